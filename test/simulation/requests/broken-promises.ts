import type { Cluster } from '../../../src/core/cluster.ts'
import { type Row, textAt, textOf } from '../../../src/model/value.ts'
import { spareIn } from '../../../src/resources/storage/aggregates/space.ts'

/** What is wrong beside leftovers: more is promised than there is, or there is twice what may be once. Sentences. */
export async function brokenPromises(cluster: Cluster): Promise<string[]> {
  const found: string[] = []
  for (const { uuid } of await cluster.rows('storage/aggregates')) {
    const spare = await spareIn(cluster, uuid)
    if (spare < 0) found.push(`the aggregate ${uuid} has promised ${-spare} bytes that its disk does not have`)
  }
  const once = (what: string, rows: readonly Row[], key: (row: Row) => string) => {
    for (const [value, group] of Map.groupBy(rows, key)) {
      if (value !== '' && group.length > 1) found.push(`${group.length} times ${what} ${value}`)
    }
  }
  const volumes = await cluster.rows('storage/volumes')
  once('the path', volumes, (one) =>
    one['nas.path'] === undefined ? '' : `${textAt(one, 'svm.uuid')} ${textAt(one, 'nas.path')}`,
  )
  // Interfaces of one SVM may share an address.
  const addresses = Map.groupBy(await cluster.rows('network/ip/interfaces'), (one) => textAt(one, 'ip.address'))
  for (const [address, group] of addresses) {
    const svms = new Set(group.map((one) => textAt(one, 'svm.uuid')))
    if (svms.size > 1) found.push(`the address ${address} in ${svms.size} SVMs`)
  }
  const servers = await cluster.rows('protocols/s3/services')
  once('the S3 server', servers, (one) => `${textAt(one, 'svm.uuid')} ${textAt(one, 'name')}`)
  once(
    'the quota rule',
    await cluster.rows('storage/quota/rules'),
    (one) =>
      `${textAt(one, 'volume.uuid')} ${textAt(one, 'type')} ${textOf(one['qtree.id'])} ${JSON.stringify(one['users'] ?? [])}`,
  )
  once(
    'the qtree',
    await cluster.rows('storage/qtrees'),
    (one) => `${textAt(one, 'volume.uuid')} ${textAt(one, 'name')}`,
  )
  return found
}
