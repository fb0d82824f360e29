import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { plainCreate, plainModify, plainRemove } from '../../../core/plain.ts'
import { unsealed } from '../../../core/access/sealed.ts'
import { failure } from '../../../model/failure.ts'
import { count, oneOf, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import type { NewOf } from '../../../model/rows.ts'

export const NTP_KEYS = 'cluster/ntp/keys'

const KEYS_MAX = 1024

const options = {
  example: { id: 10, digest_type: 'sha1', value: 'da39a3ee5e6b4b0d3255bfef95601890afd80709' },
} as const

const ntpKeysResource = resource({
  path: '/cluster/ntp/keys',
  noun: 'NTP key',
  doc: 'Keys that sign the responses of NTP servers. Stored without effect: the machine sets its own clock.',
  key: ['id'],
  recordKey: ['id'],
  nameWithin: false,
  fields: {
    id: {
      doc: 'The ID of the key on the NTP servers.',
      kind: count({ min: 1, max: 65_535 }),
      set: 'create',
      required: true,
    },
    digest_type: {
      doc: 'The digest algorithm of the key.',
      kind: oneOf({ sha1: 'SHA-1.' }),
      set: 'always',
      required: true,
    },
    value: {
      doc: 'The key as 40 hexadecimal digits. Never shown.',
      // Not of the kind of secrets: those may not be asked for by name, and tools ask for this one.
      kind: text({ charactersMin: 40, charactersMax: 40 }),
      set: 'always',
      required: true,
    },
  },
})

export const ntpKeys: Behaviour<typeof ntpKeysResource> = define(ntpKeysResource, {
  secrets: {
    value: {
      read: (cluster, row) => unsealed(cluster, row['$value']),
      isSame: (cluster, row, given) => Promise.resolve(unsealed(cluster, row['$value']) === given),
    },
  },
  create: plainCreate(NTP_KEYS, {
    ...options,
    async check(cluster, row) {
      if ((await cluster.rows(NTP_KEYS)).length >= KEYS_MAX) {
        throw failure('clusterLimitReached', { max: KEYS_MAX, things: 'NTP keys' })
      }
      return sealed(cluster, row)
    },
  }),
  modify: plainModify(NTP_KEYS, { check: sealed }),
  remove: plainRemove(NTP_KEYS, {
    inUse: ({ key }) => failure('ntpKeyInUse', { server: key }),
  }),
})

/** The value is kept under the cluster key, beside its field, and does not come back in messages either. */
function sealed(cluster: Cluster, row: NewOf<'cluster/ntp/keys'>) {
  const { value, ...rest } = row
  if (typeof value !== 'string') return rest
  if (!/^[0-9A-Fa-f]+$/.test(value)) throw failure('ntpKeyMalformed')
  return { ...rest, $value: cluster.secrets.seal(value) }
}

/** What a server is given as its key is one. */
export async function insistOnKey(cluster: Cluster, server: NewOf<'cluster/ntp/servers'>) {
  const id = server['key.id'] ?? null
  if (id !== null && (await cluster.find(NTP_KEYS, String(id))) === undefined) {
    throw failure('ntpKeyNotFound', { id: String(id) })
  }
  return server
}
