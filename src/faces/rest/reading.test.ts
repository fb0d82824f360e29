/** What a GET may ask for, as tools ask for it. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { asText, recordsOf, type Body } from '../../../test/support/body.ts'
import { NATIVE, startThings, THINGS } from './test-things.ts'
import { codeOf } from '../../model/failure.ts'
import { wireCode } from '../../../test/support/codes.ts'

const cluster = await startThings()
after(() => cluster.close())

const one = {
  name: 'one',
  comment: 'the first, {a "word"}',
  size: '1g',
  ratio: 1.5,
  made: '2026-03-01T00:00:00Z',
  period: 'PT1H',
  enabled: 'True',
  'space.used': 100,
  labels: ['a:b', 'c'],
  numbers: [1, 5],
  parts: [
    { name: 'lid', count: 1, place: { name: 'top', floor: 2 } },
    { name: 'leg', count: 4 },
  ],
  owner: 'svm1',
  aggregates: 'aggr1',
  passphrase: 'hidden',
  detail: 'dear',
}
for (const body of [
  one,
  { name: 'two', state: 'offline', enabled: false, 'space.limit.files': 7 },
  { name: 'three', size: 5, comment: '-' },
]) {
  const { status, body: said } = await cluster.call('POST', THINGS, body, NATIVE)
  assert.equal(status, 201, JSON.stringify(said))
}

const get = (query: string, options = NATIVE) => cluster.call('GET', `${THINGS}?${query}`, undefined, options)
const shown = async (fields: string): Promise<Body> => {
  const { status, body } = await get(`name=one&fields=${encodeURIComponent(fields)}`, {
    headers: { 'x-dot-client-app': 'x' },
  })
  assert.equal(status, 200, JSON.stringify(body))
  const { _links, uuid, name, ...rest } = recordsOf(body)[0] ?? {}
  assert.ok(_links !== undefined && uuid !== undefined && name !== undefined)
  return plain(rest)
}
const found = async (query: string) => {
  const { status, body } = await get(`fields=name&${query}`)
  assert.equal(status, 200, `${query}: ${JSON.stringify(body)}`)
  return recordsOf(body).map((record) => asText(record['name']))
}
const refused = async (query: string) => {
  const { status, body } = await get(query)
  assert.equal(status, 400, `${query}: ${JSON.stringify(body)}`)
  return [body['error']?.['code'], body['error']?.['target']]
}

/** Without links, which are looked at elsewhere. */
function plain(value: Body): Body {
  return JSON.parse(JSON.stringify(value, (name, each: unknown) => (name === '_links' ? undefined : each))) as Body
}

test('fields name what is shown: a field, an object, a member of a list, in braces, with stars', async () => {
  assert.deepEqual(await shown('size,'), { size: 2 ** 30 })
  assert.deepEqual(await shown('space'), { space: { used: 100 } })
  assert.deepEqual(await shown('space.*,ratio'), { ratio: 1.5, space: { used: 100 } })
  assert.deepEqual(await shown('space.{used,limit.{files}}'), { space: { used: 100 } })
  assert.deepEqual(await shown('parts.count'), { parts: [{ count: 1 }, { count: 4 }] })
  assert.deepEqual(await shown('parts.{name,place.floor}'), {
    parts: [{ name: 'lid', place: { floor: 2 } }, { name: 'leg' }],
  })
  assert.deepEqual(Object.keys(await shown('owner.*')), ['owner'])
  assert.equal((await shown('*'))['detail'], undefined)
  assert.equal((await shown('*,detail'))['detail'], 'dear')
  assert.equal((await shown('**'))['detail'], 'dear')
  assert.deepEqual(await shown('_links'), {})
})

test('repeated fields add up', async () => {
  const { body } = await get('name=one&fields=size&fields=ratio,enabled')
  assert.deepEqual(Object.keys(recordsOf(body)[0] ?? {}), ['uuid', 'name', 'enabled', 'size', 'ratio', '_links'])
})

test('an exclamation mark takes away, also a member of a list, and alone from what is shown anyway', async () => {
  assert.deepEqual(await shown('space,!space.used'), {})
  assert.deepEqual(await shown('size,space.{!used}'), { size: 2 ** 30 })
  assert.deepEqual(await shown('parts,!parts.place'), {
    parts: [
      { name: 'lid', count: 1 },
      { name: 'leg', count: 4 },
    ],
  })
  assert.deepEqual(await shown('parts,!parts.place.name,!parts.count'), {
    parts: [{ name: 'lid', place: { floor: 2 } }, { name: 'leg' }],
  })
  const rest = await shown('!space')
  assert.equal(rest['space'], undefined)
  assert.equal(rest['ratio'], 1.5)
  assert.equal(rest['detail'], undefined)
})

test('fields that nothing has are refused, unless they are to be ignored', async () => {
  assert.deepEqual(await refused('fields=nothing'), [wireCode('fieldsUnknown'), 'fields'])
  assert.deepEqual(await refused('fields=space.{used'), ['262286', 'fields'])
  assert.deepEqual(await refused('fields=space.used}'), ['262286', 'fields'])
  assert.deepEqual(await refused('fields=passphrase'), [wireCode('fieldNeverShown'), 'fields'])
  assert.equal((await get('fields=name,nothing&ignore_unknown_fields=true')).status, 200)
  assert.equal((await get('nothing=1&ignore_unknown_fields=true')).status, 400, 'A filter is not ignored.')
})

test('filters: patterns, ranges, lists, negations, what is not set, quotes', async () => {
  assert.deepEqual(await found('name=t*'), ['three', 'two'])
  assert.deepEqual(await found('name=one|three'), ['one', 'three'])
  assert.deepEqual(await found('name=one,two'), ['one', 'two'])
  assert.deepEqual(await found('name=!t*'), ['one'])
  assert.deepEqual(await found('name=!one..thz'), ['two'])
  assert.deepEqual(await found('size=1MB..2GB'), ['one'])
  assert.deepEqual(await found('size=<1KB|null'), ['three', 'two'])
  assert.deepEqual(await found('size=!null'), ['one', 'three'])
  assert.deepEqual(await found('size=<1TB'), ['one', 'three'])
  assert.deepEqual(await found('made=%3E%3D1683625320'), ['one'])
  assert.deepEqual(await found('made=>2026-01-01T00:00:00+02:00'), ['one'])
  assert.deepEqual(await found('period=<P1D'), ['one'])
  assert.deepEqual(await found('enabled=False'), ['two'])
  assert.deepEqual(await found(`comment=${encodeURIComponent('*{{a "word"}}')}`), ['one'])
  assert.deepEqual(await found('comment=!""'), ['one', 'three', 'two'])
})

test('a dash is what command lines show where nothing is set', async () => {
  assert.deepEqual(await found('made=!"-"'), ['one'])
  assert.deepEqual(await found('made=-'), ['three', 'two'])
  assert.deepEqual(await found('comment="-"'), ['three', 'two'])
})

test('filters look into lists, and on an object they are on its name', async () => {
  assert.deepEqual(await found('labels=a:b'), ['one'])
  assert.deepEqual(await found('numbers=>4'), ['one'])
  assert.deepEqual(await found('numbers=>5'), [])
  assert.deepEqual(await found('parts.name=le*'), ['one'])
  assert.deepEqual(await found('parts.place.floor=2'), ['one'])
  for (const name of ['owner', 'owner.name']) assert.deepEqual(await found(`${name}=svm1`), ['one'])
  for (const name of ['aggregates', 'aggregates.name']) assert.deepEqual(await found(`${name}=aggr1`), ['one'])
  assert.deepEqual(await found('parts=leg'), ['one'])
  assert.deepEqual(await found('parts.place=top'), ['one'])
})

test('filters that cannot be understood are refused by their name', async () => {
  assert.deepEqual(await refused('nothing=1'), [wireCode('argumentUnexpected'), 'nothing'])
  assert.deepEqual(await refused('size=large'), [wireCode('argumentInvalid'), 'size'])
  assert.deepEqual(await refused('size=>'), [wireCode('filterLacksValue'), 'size'])
  assert.deepEqual(await refused('passphrase=x'), [wireCode('fieldNotFilterable'), 'passphrase'])
})

test('an order has several fields, each with its direction, in any case of letters', async () => {
  assert.deepEqual(await found('order_by=size'), ['three', 'one', 'two'])
  assert.deepEqual(await found('order_by=size+DESC'), ['one', 'three', 'two'])
  assert.deepEqual(await found('order_by=state,name%20desc'), ['two', 'three', 'one'])
  assert.deepEqual(await found('order_by=state&order_by=name'), ['two', 'one', 'three'])
  assert.deepEqual(await found('$orderBy=owner%20desc,name'), ['one', 'three', 'two'])
  assert.deepEqual(await refused('order_by=nothing'), [wireCode('orderByUnfit'), 'order_by'])
  assert.deepEqual(await refused('order_by=labels'), [wireCode('orderByUnfit'), 'order_by'])
  assert.deepEqual(await refused('order_by=passphrase'), [wireCode('orderByUnfit'), 'order_by'])
  assert.deepEqual(await refused('order_by=name%20up'), [wireCode('orderByUnfit'), 'order_by'])
})

test('arguments of collections do no harm where one record is asked for', async () => {
  const reply = await cluster.call(
    'GET',
    '/api/cluster?return_records=true&fields=*&max_records=1024',
    undefined,
    NATIVE,
  )
  assert.equal(reply.status, 200)
  assert.equal((await get('return_records=True&return_timeout=15&pretty=false')).status, 200)
})

test('records of a collection that is asked for no fields have their keys, and those of what they belong to', async () => {
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
  const path = `/api/protocols/s3/services/${svm}/users`
  const { body } = await cluster.call('GET', path, undefined, NATIVE)
  const { _links, ...keys } = recordsOf(body)[0] ?? {}
  assert.ok(_links)
  assert.deepEqual(plain(keys), { svm: { name: 'svm1', uuid: svm }, name: 'demo' } as unknown as Body)
})

test('the words of an error come apart for clients that ask for them', async () => {
  const of = async (headers: Readonly<Record<string, string>>) =>
    (await get('nothing=1', { headers: { ...NATIVE.headers, ...headers } })).body['error']?.['arguments']
  assert.equal(await of({}), undefined)
  assert.deepEqual(await of({ 'x-dot-error-arguments': 'true' }), [{ code: '1', message: 'nothing' }])
})

test('a query looks for words in several fields at once', async () => {
  const search = (query: string, fields = '*') =>
    found(`query=${encodeURIComponent(query)}&query_fields=${encodeURIComponent(fields)}`)
  assert.deepEqual(await search('first'), ['one'])
  assert.deepEqual(await search('FIRST'), ['one'])
  assert.deepEqual(await search('off'), ['two'], 'Anywhere in a value.')
  assert.deepEqual(await search('first svm1'), ['one'], 'Each, be it in different fields.')
  assert.deepEqual(await search('first nobody'), [])
  assert.deepEqual(await search('first|two'), ['one', 'two'])
  assert.deepEqual(await search('f*st'), ['one'])
  assert.deepEqual(await search('"the first"'), ['one'])
  assert.deepEqual(await search('"f*st"'), [])
  assert.deepEqual(await search('online', 'comment,name'), [])
  assert.deepEqual(await search('leg', 'parts.name'), ['one'])
  assert.deepEqual(await search('top', 'parts'), ['one'])
  assert.deepEqual(await search('a:b', 'labels'), ['one'])
  assert.deepEqual(await search('2026-03', '*'), ['one'], 'As it is shown.')
  assert.deepEqual(await search('first', '*,!comment'), [])
  assert.deepEqual(await search('hidden', '**'), [], 'A secret is not looked into.')
  assert.deepEqual(await found('query=o&query_fields=name&name=t*'), ['two'], 'Beside filters.')
})

test('a search that cannot be understood is refused', async () => {
  assert.deepEqual(await refused('query=x'), [wireCode('searchWithoutFields'), 'query'])
  assert.deepEqual(await refused('query_fields=*'), [wireCode('searchWithoutQuery'), 'query_fields'])
  assert.deepEqual(await refused('query=x&query_fields=nothing'), [wireCode('searchFieldUnknown'), 'query_fields'])
  assert.deepEqual(await refused('query=%22x&query_fields=*'), [wireCode('searchMalformed'), 'query'])
  assert.deepEqual(await refused('query=+&query_fields=*'), [wireCode('searchMalformed'), 'query'])
  assert.equal((await cluster.call('DELETE', `${THINGS}?query=o&query_fields=name`, undefined, NATIVE)).status, 400)
})

test('without records a collection is counted as a whole; with max_records, one page of it', async () => {
  for (const headers of [NATIVE.headers, {}]) {
    const count = async (query: string) => {
      const { body } = await cluster.call('GET', `${THINGS}?return_records=false${query}`, undefined, { headers })
      assert.equal(body['records'], undefined)
      return [body['num_records'], body['_links']?.['next'] !== undefined]
    }
    assert.deepEqual(await count(''), [3, false])
    assert.deepEqual(await count('&name=t*'), [2, false])
    assert.deepEqual(await count('&offset=1'), [2, false])
    assert.deepEqual(await count('&offset=5'), [0, false])
    assert.deepEqual(await count('&max_records=2'), [2, true])
  }
})

test('a read takes no body, but for those that say nothing', async () => {
  for (const method of ['GET', 'HEAD']) {
    const refused = await cluster.call(method, THINGS, { name: 'svm1' })
    assert.deepEqual([refused.status, refused.body['error']?.['code']], [400, codeOf('bodyNotTaken')])
    assert.equal((await cluster.call(method, THINGS, 'null')).status, 200)
  }
})
