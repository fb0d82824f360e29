import { flag } from '../../../model/kinds/index.ts'
import type { Ground } from '../../../core/grounds.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { inline, uuidOfNew, type Changing, type Making } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { isServed, printRelease } from '../../../model/release.ts'
import type { DraftOf, NewOf } from '../../../model/rows.ts'
import { namesOf } from '../../../model/value.ts'
import { sealedKey } from '../../../records/certificates.ts'
import type { Change } from '../../../ports/catalog.ts'

import { CERTIFICATES } from '../../security/certificates.ts'
import { insistOnReadWrite } from '../../storage/volumes/types.ts'
import { builtinPolicies, POLICIES } from './services/builtin-policies.ts'
import { BUCKETS, SERVERS } from './types.ts'
import type { Bucket, ObjectServer } from '../../../records/rows.ts'

/** Servers of one SVM, from the release on that allows more than one. */
const SERVERS_MAX = 16

/** Held by all that change which servers an SVM has, and which volumes these may use. */
export const serversLock = (svm: string): Ground => ({ lock: `servers:${svm}`, types: [SERVERS], parent: svm })

function insistOnFew({ release }: Cluster, servers: number): void {
  const max = isServed('9.11', release) ? SERVERS_MAX : 1
  if (servers >= max) throw failure('objectStoreTaken', { release: printRelease(release), max })
}

export const createServer = inline({
  async plan(cluster, { draft }: Making<typeof SERVERS>) {
    const svm = draft['svm.uuid']
    const name = draft['name']
    const servers = await cluster.rows(SERVERS, svm)
    const same = servers.find((server) => server['name'] === name)
    // PUT repeated with the same settings is the same server; anything else of that name is a conflict.
    if (same !== undefined) {
      if (isSame(draft, same)) return { key: same['uuid'], input: same, isDone: true }
      throw failure('objectStoreNameTaken', { name })
    }
    insistOnFew(cluster, servers.length)
    const key = uuidOfNew(cluster, draft)
    const row = { data_volumes: [], ...draft, uuid: key }
    await checkVolumes(cluster, row)
    return { key, input: row, locks: [`svm:${svm}`, serversLock(svm)] }
  },
  step: {
    name: 'write record',
    async run(cluster, { input }) {
      const svm = input['svm.uuid']
      // Another may have come since the plan; from this look on, none does.
      insistOnFew(cluster, (await cluster.rows(SERVERS, svm)).length)
      const known = new Set((await cluster.rows(POLICIES, svm)).map((policy) => policy['name']))
      const policies = builtinPolicies
        .filter((policy) => !known.has(policy['name']))
        .map((policy): Change => cluster.put(POLICIES, { ...policy, 'svm.uuid': svm }, { expect: 'absent' }))
      await checkVolumes(cluster, input)
      await cluster.commit([cluster.put(SERVERS, input, { expect: 'absent' }), ...policies])
    },
  },
})

export const modifyServer = inline({
  plan: (_cluster, { row, draft }: Changing<typeof SERVERS>) => {
    const key = row['uuid']
    return Promise.resolve({
      key,
      input: { ...draft },
      locks: [`server:${key}`, serversLock(row['svm.uuid'])],
    })
  },
  step: {
    name: 'write record',
    async run(cluster, { key, input }) {
      const record = await cluster.record(SERVERS, key)
      if (record === undefined) throw failure('objectStoreNotFound')
      const changed: ObjectServer = { ...record.body, ...input }
      // Buckets of clones live in volumes that were never data volumes.
      const dropped = new Set(volumesOf(record.body)).difference(new Set(volumesOf(changed)))
      for (const bucket of await bucketsOf(cluster, key)) {
        if (dropped.has(bucket['volume.uuid'] ?? '')) {
          throw failure('dataVolumeInUse', { bucket: bucket['name'] })
        }
      }
      await checkVolumes(cluster, changed)
      // A bucket that is made meanwhile writes the server's record too, and this commit is refused.
      await cluster.commit([cluster.put(SERVERS, changed, { expect: record.revision })])
    },
  },
})

export const removeServer = inline({
  args: {
    delete_all: {
      doc: 'Whether to delete the buckets, too. Accepted without effect: a server with buckets is never deleted.',
      kind: flag(),
    },
  },
  plan: (_cluster, { row }: Changing<typeof SERVERS>) => {
    const key = row['uuid']
    return Promise.resolve({ key, input: {}, locks: [`server:${key}`] })
  },
  step: {
    name: 'remove record',
    async run(cluster, { key }) {
      const record = await cluster.record(SERVERS, key)
      if (record === undefined) return
      if ((await bucketsOf(cluster, key)).length > 0) {
        throw failure('objectStoreHasBuckets')
      }
      await cluster.commit([{ do: 'remove-record', type: SERVERS, key, expect: record.revision }])
    },
  },
})

export function volumesOf(server: DraftOf<typeof SERVERS>): string[] {
  return (server['data_volumes'] ?? []).map((volume) => volume['uuid'])
}

async function bucketsOf(cluster: Cluster, server: string): Promise<Bucket[]> {
  return (await cluster.shortRows(BUCKETS)).filter((bucket) => bucket['server.uuid'] === server)
}

/** A policy that is named is there. The built-in ones are made with the first server. */
export async function checkPolicy(
  cluster: Cluster,
  row: DraftOf<typeof SERVERS> | DraftOf<typeof BUCKETS>,
): Promise<void> {
  const { 'policy.name': name, 'svm.uuid': svm = '' } = row
  if (name === undefined || name === '' || builtinPolicies.some((policy) => policy['name'] === name)) return
  if ((await cluster.find(POLICIES, `${svm}/${name}`)) === undefined) {
    throw failure('objectStorePolicyUnknown', { name })
  }
}

/** It is one by which servers show who they are, with its key, and not of another SVM. */
async function checkCertificate(cluster: Cluster, server: ObjectServer): Promise<void> {
  const key = server['certificate.uuid'] ?? ''
  if (key === '') return
  const found = await cluster.row(CERTIFICATES, key)
  const isOwn = found['scope'] === 'cluster' || found['svm.uuid'] === server['svm.uuid']
  if (isOwn && found['type'] === 'server' && typeof found[sealedKey] === 'string') return
  throw failure('objectStoreCertificateUnfit')
}

/** The root volume is empty and shared with nothing; data volumes are other volumes of the same SVM. */
async function checkVolumes(cluster: Cluster, server: ObjectServer): Promise<void> {
  await checkPolicy(cluster, server)
  await checkCertificate(cluster, server)
  const root = server['root_volume.uuid']
  const others = (await cluster.rows(SERVERS)).filter((other) => other['uuid'] !== server['uuid'])
  const data = volumesOf(server)
  if (new Set(data).size !== data.length) throw failure('dataVolumeTwice')
  for (const volume of [...(typeof root === 'string' ? [root] : []), ...data]) {
    const row = await cluster.find('storage/volumes', volume)
    if (row === undefined || row['svm.uuid'] !== server['svm.uuid']) {
      throw failure('dataVolumeOfOtherSvm', { field: volume === root ? 'root_volume' : 'data_volumes' })
    }
    if (others.some((other) => other['root_volume.uuid'] === volume)) {
      throw failure('rootVolumeTaken', {
        volume: row['name'],
        field: volume === root ? 'root_volume' : 'data_volumes',
      })
    }
  }
  if (typeof root !== 'string') return
  insistOnReadWrite(await cluster.row('storage/volumes', root), 'bucketVolumeProtected')
  if (data.includes(root)) throw failure('rootVolumeAsDataVolume')
  const counters = await cluster.catalog.volume(root)
  const isEmpty = (counters?.usedBytes ?? 0) === 0 && (await cluster.rows(BUCKETS, root)).length === 0
  if (!isEmpty || others.some((other) => volumesOf(other).includes(root))) {
    throw failure('rootVolumeUnfit')
  }
}

/** Whether every setting that was given is as it is already. */
function isSame(draft: NewOf<typeof SERVERS>, server: ObjectServer): boolean {
  const { data_volumes: _, ...plain } = draft
  const isAsked = new Set(volumesOf(draft)).symmetricDifference(new Set(volumesOf(server))).size === 0
  if (draft['data_volumes'] !== undefined && !isAsked) return false
  return namesOf(plain).every((path) => {
    return (path.endsWith('.name') && path !== 'policy.name') || plain[path] === server[path]
  })
}
