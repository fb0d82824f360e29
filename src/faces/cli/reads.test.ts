/** In which order and in which pages commands show records, whatever these lie within. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'

const CLI = '/api/private/cli'
const NATIVE = { headers: { 'user-agent': 'netapp-harvest' } }

/** All records of a command, in pages, and the addresses of the pages after the first. */
async function pagesOf(cluster: TestCluster, command: string) {
  const pages: string[][] = []
  const links: string[] = []
  for (let path = `${CLI}/${command}`; path !== '';) {
    const { status, body } = await cluster.call('GET', path)
    assert.equal(status, 200)
    pages.push(recordsOf(body).map((record) => Object.values(record).map(asText).join('/')))
    const next = body['_links']?.['next']?.['href']
    path = next === undefined ? '' : asText(next)
    if (path !== '') links.push(path)
  }
  return { pages, links }
}

async function withSnapshots() {
  const cluster = await startTestCluster()
  for (const volume of ['vol1', 'svm1_s3_root']) {
    for (const snapshot of ['b', 'a', 'c']) {
      const { status } = await cluster.call('POST', `${CLI}/snapshot`, { vserver: 'svm1', volume, snapshot })
      assert.equal(status, 201)
    }
  }
  const { body } = await cluster.call('GET', '/api/storage/volumes?fields=name&order_by=uuid')
  const [first = '', second = ''] = recordsOf(body).map(({ name }) => asText(name))
  return { cluster, first, second }
}

test('records come in the order that is asked for, within one parent after the other', async () => {
  const { cluster, first, second } = await withSnapshots()
  const all = (order: readonly string[]) =>
    [first, second].flatMap((volume) => order.map((one) => `svm1/${volume}/${one}`))
  assert.deepEqual((await pagesOf(cluster, 'snapshot?order_by=snapshot')).pages, [all(['a', 'b', 'c'])])
  assert.deepEqual((await pagesOf(cluster, 'snapshot?order_by=snapshot%20desc')).pages, [all(['c', 'b', 'a'])])
  assert.deepEqual((await pagesOf(cluster, 'snapshot?order_by=vserver,snapshot%20desc')).pages, [all(['c', 'b', 'a'])])
  assert.deepEqual((await pagesOf(cluster, `snapshot?order_by=snapshot&volume=!${first}`)).pages, [
    ['a', 'b', 'c'].map((one) => `svm1/${second}/${one}`),
  ])
  assert.deepEqual((await pagesOf(cluster, 'snapshot?volume=none')).pages, [[]])
  await cluster.close()
})

test('a page goes on in the next parent, and its link says which parent and where', async () => {
  const { cluster, first, second } = await withSnapshots()
  const uuids = [first, second].map((volume) => cluster.uuidOf('/api/storage/volumes', volume))
  const [, uuid] = await Promise.all(uuids)
  const inPages = async (size: number) => pagesOf(cluster, `snapshot?order_by=snapshot&max_records=${size}`)
  const [a, b, c, d, e, f] = [first, second].flatMap((volume) => ['a', 'b', 'c'].map((one) => `svm1/${volume}/${one}`))
  assert.deepEqual((await inPages(2)).pages, [
    [a, b],
    [c, d],
    [e, f],
  ])
  assert.deepEqual((await inPages(4)).pages, [
    [a, b, c, d],
    [e, f],
  ])
  const { pages, links } = await inPages(3)
  assert.deepEqual(pages, [
    [a, b, c],
    [d, e, f],
  ])
  assert.deepEqual(links, [`${CLI}/snapshot?order_by=snapshot&max_records=3&start=${uuid}%7E`])
  // Of each parent some are passed over.
  assert.deepEqual((await pagesOf(cluster, 'snapshot?order_by=snapshot&offset=2')).pages, [[c, f]])
  // Parents that have gone are passed over.
  const start = '00000000-0000-0000-0000-000000000000~'
  assert.deepEqual((await pagesOf(cluster, `snapshot?order_by=snapshot&start=${start}`)).pages, [[a, b, c, d, e, f]])
  assert.deepEqual((await pagesOf(cluster, 'snapshot?start=g~')).pages, [[]])
  await cluster.close()
})

test('a page is as long as those of the interface where nothing is said of it', async () => {
  const cluster = await startTestCluster()
  const rows = Array.from({ length: 60 }, (_, at) => ({
    uuid: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
    name: `policy${at}`,
    enabled: true,
    copies: [],
  }))
  await cluster.cluster.commit(rows.map((row) => cluster.cluster.put('storage/snapshot-policies', row)))
  const { pages } = await pagesOf(cluster, 'snapshot/policy')
  assert.deepEqual([pages[0]?.length, pages.length], [50, 2])
  const { body } = await cluster.call('GET', `${CLI}/snapshot/policy`, undefined, NATIVE)
  assert.ok(Number(body['num_records']) > 60)
  assert.equal(body['_links'], undefined)
  await cluster.close()
})

test('what is filtered by words that no field has leaves pages short, and others are on the first page alone', async () => {
  const cluster = await startTestCluster()
  const { pages } = await pagesOf(cluster, 'volume?nodes=node2&max_records=1')
  assert.deepEqual(pages, [[], []])
  assert.deepEqual((await pagesOf(cluster, 'vserver?max_records=1')).pages, [['svm1', 'holdfast']])
  await cluster.call('POST', '/api/svm/svms?return_timeout=15', { name: 'svm2' })
  assert.deepEqual((await pagesOf(cluster, 'vserver?order_by=vserver&max_records=1')).pages, [
    ['svm1', 'holdfast'],
    ['svm2'],
  ])
  assert.deepEqual((await pagesOf(cluster, 'vserver?order_by=vserver%20desc')).pages, [['svm2', 'svm1', 'holdfast']])
  await cluster.close()
})

test('of what there is one of everything is shown, and fields are no filters', async () => {
  const cluster = await startTestCluster()
  const { body } = await cluster.call('GET', `${CLI}/cluster/identity?name=other`)
  const [identity] = recordsOf(body)
  assert.equal(identity?.['name'], 'holdfast')
  assert.ok(Object.keys(identity ?? {}).length > 3)
  assert.equal((await cluster.call('GET', `${CLI}/version?version=%3E`)).status, 400)
  await cluster.close()
})

test('names that came with a later release do not stand in the way of a command', async () => {
  const cluster = await startTestCluster({ release: '9.7' })
  // Schedules belong to SVMs since 9.10, and certificates have names since 9.8.
  for (const [command, key] of [
    ['job/schedule', 'schedule'],
    ['security/certificate', 'uuid'],
  ] as const) {
    const { status, body } = await cluster.call('GET', `${CLI}/${command}`)
    assert.equal(status, 200, command)
    for (const record of recordsOf(body)) assert.ok(record[key] !== undefined)
    if (command === 'job/schedule') assert.ok(recordsOf(body).length > 0)
  }
  await cluster.close()
})
