/** What readers of collections of long records take: rows and characters that are read and kept, not time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNumber, asText, recordsOf, type Body } from '../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { startThings, THING_TYPE, THINGS } from '../../faces/rest/test-things.ts'
import { openSqliteCatalog } from '../../engines/sqlite/catalog.ts'
import type { Catalog, Change } from '../../ports/catalog.ts'
import { charactersOf, leftOut } from './long-values.ts'
import { LOOKED_AT_MAX } from './log-pages.ts'
import { PageRoom } from './page-room.ts'

const LONG = 'x'.repeat(4000)
const LABELS = Array.from({ length: 12 }, (_, n) => `${n} ${LONG}`)
const THINGS_MADE = 120

/** Things of some 50,000 characters each, of which one has its last label alone. */
async function longThings(catalog: Catalog): Promise<TestCluster> {
  const cluster = await startThings({ catalog })
  const put = (n: number): Change => {
    const name = `thing-${String(n).padStart(4, '0')}`
    const uuid = `4ea7a442-86d1-11e0-ae1c-${String(n).padStart(12, '0')}`
    return cluster.cluster.put(THING_TYPE, { uuid, name, state: 'online', labels: [...LABELS, `mark-${n}`], size: n })
  }
  for (let n = 0; n < THINGS_MADE; n += 20) {
    await catalog.commit(Array.from({ length: 20 }, (_, at) => put(n + at)))
  }
  return cluster
}

test('pages of names, filters, orders and single records of a collection do not read its long values again', async () => {
  const { catalog, read } = counted()
  const cluster = await longThings(catalog)
  // It is in memory from here on, without them.
  await cluster.call('GET', `${THINGS}?fields=name`)
  for (const [query, records, longest] of [
    ['?fields=name&max_records=10000', THINGS_MADE, 0],
    ['?fields=name&size=>50&order_by=size%20desc&max_records=100', THINGS_MADE - 51, 0],
    ['?fields=size&name=thing-0007', 1, 0],
    ['?fields=labels&name=thing-0007', 1, 1],
    ['?fields=*&max_records=7', 7, 7],
  ] as const) {
    read.longRecords = 0
    const { status, body } = await cluster.call('GET', `${THINGS}${query}`)
    assert.equal(status, 200)
    assert.equal(body['num_records'], records, query)
    assert.ok(read.longRecords <= longest, `${query}: ${read.longRecords} long records were read`)
  }
  read.longRecords = 0
  const path = `${THINGS}/4ea7a442-86d1-11e0-ae1c-000000000007`
  const { body } = await cluster.call('GET', path)
  assert.deepEqual(body['labels'], [...LABELS, 'mark-7'])
  assert.equal((await cluster.call('GET', `${path.slice(0, -2)}99`)).status, 200)
  assert.equal((await cluster.call('GET', `${path.slice(0, -4)}9999`)).status, 404)
  assert.ok(read.longRecords <= 4)
  await cluster.close()
})

test('a filter on a long value looks at all of it, though no collection in memory has it', async () => {
  const cluster = await longThings(counted().catalog)
  const { body } = await cluster.call('GET', `${THINGS}?fields=name&labels=mark-99`)
  assert.deepEqual(
    recordsOf(body).map(({ name }) => name),
    ['thing-0099'],
  )
  const short = await cluster.cluster.shortRows(THING_TYPE)
  assert.ok(short.every((row) => charactersOf(row) < 1000 && leftOut(row).join() === 'labels'))
  const whole = await cluster.cluster.rows(THING_TYPE)
  assert.ok(whole.every((row) => leftOut(row).length === 0 && (row['labels'] as unknown[]).length === 13))
  await cluster.close()
})

test('a page of very long records ends before its limit, and the next links lead through all of them once', async () => {
  const cluster = await longThings(counted().catalog)
  for (const order of ['', '&order_by=size%20desc']) {
    const seen: string[] = []
    let pages = 0
    for (
      let target: string | undefined = `${THINGS}?fields=*&max_records=10000${order}`;
      target !== undefined;
      pages++
    ) {
      const { body }: { body: Body } = await cluster.call('GET', target)
      const records = recordsOf(body)
      assert.equal(body['num_records'], records.length)
      assert.ok(JSON.stringify(records).length < new PageRoom().charactersMax * 1.1)
      seen.push(...records.map(({ name }) => asText(name)))
      const links = body['_links'] as { next?: { href: string } } | undefined
      target = links?.next?.href
    }
    assert.equal(pages, 2, 'pages')
    assert.equal(new Set(seen).size, THINGS_MADE)
    assert.deepEqual(seen, order === '' ? seen.toSorted() : seen.toSorted().toReversed())
  }
  await cluster.close()
})

test('logs are read in pages of bounded length, and one entry without the others', async () => {
  const { catalog, read } = counted()
  const cluster = await startTestCluster({ catalog })
  const entries = Array.from({ length: 400 }, (_, n): Change => {
    const body = { user: 'admin', location: '', input: `POST ${n} ${LONG}`, state: 'success', message: '' }
    return { do: 'append-log', log: 'audit', timeMs: n, body, keep: 100_000 }
  })
  await catalog.commit(entries)
  const AUDIT = '/api/security/audit/messages'
  read.longestPage = 0
  const { body } = await cluster.call('GET', `${AUDIT}?fields=index&max_records=10000&order_by=index%20desc`)
  assert.ok(asNumber(body['num_records']) >= 400 && asNumber(body['num_records']) <= LOOKED_AT_MAX)
  assert.ok(read.longestPage > 0 && read.longestPage < 300_000, `${read.longestPage} characters at once`)
  const index = asNumber(recordsOf(body)[17]?.['index'])
  read.entries = 0
  const one = await cluster.call('GET', `${AUDIT}/${index}`)
  assert.equal(one.body['index'], index)
  assert.ok(read.entries <= 2, `${read.entries} entries were read for one`)
  await cluster.close()
})

/** A catalog, and what is read of it. */
function counted(): { catalog: Catalog; read: { longRecords: number; longestPage: number; entries: number } } {
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const read = { longRecords: 0, longestPage: 0, entries: 0 }
  const count = (found: unknown, name: string | symbol) => {
    const all = (Array.isArray(found) ? found : [found]).filter((each) => each !== undefined)
    if (name === 'log') {
      read.entries += all.length
      read.longestPage = Math.max(read.longestPage, JSON.stringify(all).length)
    } else read.longRecords += all.filter((each) => JSON.stringify(each).length > LONG.length).length
  }
  const proxy = new Proxy(catalog, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name !== 'record' && name !== 'records' && name !== 'log') return member.bind(target) as unknown
      return async (...args: unknown[]) => {
        const found: unknown = await Reflect.apply(member, target, args)
        count(found, name)
        return found
      }
    },
  })
  return { catalog: proxy, read }
}
