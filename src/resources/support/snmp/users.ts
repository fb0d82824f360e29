import { type Behaviour, define, type Derivation } from '../../../core/behaviour.ts'
import { namedUuid } from '../../../records/named-uuid.ts'
import { plainCreate, plainModify, plainRemove } from '../../../core/plain.ts'
import { sealSecrets } from '../../../core/access/sealed.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { failure } from '../../../model/failure.ts'
import { inUse, invalid } from '../../../model/failures/forms.ts'
import { ownFailures } from '../../../model/failures/index.ts'
import { address, oneOf, secret, text, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { type Row, textOf } from '../../../model/value.ts'
import type { RowOf, DraftOf } from '../../../model/rows.ts'

export const SNMP_USERS = 'support/snmp/users'
export const SNMP_TRAPHOSTS = 'support/snmp/traphosts'

const USERS_MAX = 1024
const PASSWORD = { charactersMin: 8, charactersMax: 255 } as const

const owner: Derivation<RowOf<'support/snmp/users'>> = {
  gives: ['owner.name', 'owner.uuid', 'scope'],
  async from(cluster, rows) {
    const [self] = await cluster.rows('cluster')
    return Promise.all(
      rows.map(async (row): Promise<Row> => {
        const svm = row['owner.uuid'] ?? ''
        const of = svm === '' || svm === self?.['uuid'] ? self : await cluster.find('svm/svms', svm)
        return {
          'owner.name': of?.['name'] ?? null,
          'owner.uuid': of?.['uuid'] ?? null,
          scope: of === self ? 'cluster' : 'svm',
        }
      }),
    )
  },
}

const snmpUsersResource = resource({
  path: '/support/snmp/users',
  noun: 'SNMP user',
  doc: 'SNMP communities of versions 1 and 2c, and SNMP users of version 3. Stored without effect: SNMP is not served yet.',
  key: ['engine_id', 'name'],
  recordKey: ['engine_id', 'name'],
  parent: 'owner.uuid',
  parentType: 'svm/svms',
  nameWithin: false,
  columns: ['name', 'authentication_method', 'owner.name', 'comment'],
  form: {
    User: ['name', 'authentication_method', 'owner.name', 'comment'],
    SNMPv3: [
      'snmpv3.authentication_protocol',
      'snmpv3.authentication_password',
      'snmpv3.privacy_protocol',
      'snmpv3.privacy_password',
    ],
  },
  removal: 'disruptive',
  fields: {
    engine_id: {
      doc: 'The ID of the SNMP engine of the user in hexadecimal digits. Default: the engine of the cluster.',
      kind: text({
        charactersMin: 10,
        charactersMax: 64,
        pattern: /^(?:[0-9A-Fa-f]{2})+$/,
        patternDoc: 'an even number of hexadecimal digits',
      }),
      set: 'create',
    },
    name: {
      doc: 'The name of the user or community.',
      kind: text({
        charactersMin: 1,
        charactersMax: 32,
        pattern: /^[^\s/:]+$/,
        patternDoc: 'text without spaces, "/" and ":"',
      }),
      set: 'create',
      required: true,
    },
    authentication_method: {
      doc: 'How the user authenticates.',
      kind: oneOf({
        community: 'By the community, with versions 1 and 2c.',
        usm: 'By the user-based security model of version 3.',
        both: 'By either method.',
      }),
      set: 'create',
      required: true,
    },
    owner: { doc: 'The cluster or the SVM that the SNMP user belongs to.', isGroup: true },
    'owner.name': { doc: 'The name of the SVM or the cluster that the user may monitor.', kind: text(), set: 'create' },
    'owner.uuid': { doc: 'The UUID of the SVM or the cluster that the user may monitor.', kind: uuid(), set: 'create' },
    scope: {
      doc: 'Whether the user may monitor an SVM or the cluster.',
      kind: oneOf({ svm: 'The user may monitor an SVM.', cluster: 'The user may monitor the cluster.' }),
    },
    comment: { doc: 'A comment that describes the user.', kind: text({ charactersMax: 128 }), set: 'always' },
    switch_address: { doc: 'The IP address of the switch of a remote user.', kind: address(), set: 'create' },
    snmpv3: { doc: 'Authentication and privacy of an SNMPv3 user.', isGroup: true },
    'snmpv3.authentication_protocol': {
      when: { field: 'authentication_method', is: ['usm', 'both'] },
      doc: 'The authentication protocol of an SNMPv3 user.',
      kind: oneOf({ none: 'No authentication.', md5: 'MD5.', sha: 'SHA-1.', sha2_256: 'SHA-256.' }),
      set: 'create',
    },
    'snmpv3.authentication_password': {
      doc: 'The authentication password of an SNMPv3 user. Never shown.',
      kind: secret(PASSWORD),
      set: 'create',
    },
    'snmpv3.privacy_protocol': {
      when: { field: 'authentication_method', is: ['usm', 'both'] },
      doc: 'The encryption protocol of an SNMPv3 user.',
      kind: oneOf({ none: 'No encryption.', des: 'DES.', aes128: 'AES with 128 bits.' }),
      set: 'create',
    },
    'snmpv3.privacy_password': {
      doc: 'The encryption password of an SNMPv3 user. Never shown.',
      kind: secret(PASSWORD),
      set: 'create',
    },
  },
})

const failures = ownFailures({
  snmpUserInUse: inUse(
    undefined,
    'The trap host "{host}" uses the user. Delete the trap host first.',
    'Delete the trap host first.',
  ),
  snmpOwnerUnknown: invalid('owner', 'The owner is neither an SVM nor the cluster.', 'Name an SVM or the cluster.', {
    code: '2621475',
  }),
  communityFieldUnfit: invalid('{field}', '"{field}" is not allowed for a community.', 'Leave the field out.'),
  snmpProtocolMissing: invalid('{field}', '"{field}" requires a protocol.', 'Choose a protocol first.'),
  privacyWithoutAuthentication: invalid(
    'snmpv3.privacy_protocol',
    'Encryption requires authentication.',
    'Choose an authentication protocol, too.',
  ),
})

export const snmpUsers: Behaviour<typeof snmpUsersResource> = define(snmpUsersResource, {
  failures,
  derive: [owner],
  create: plainCreate(SNMP_USERS, {
    example: { name: 'watchers', authentication_method: 'community' },
    async check(cluster, row) {
      if ((await cluster.rows(SNMP_USERS)).length >= USERS_MAX) {
        throw failure('clusterLimitReached', { max: USERS_MAX, things: 'SNMP users' })
      }
      const { 'owner.name': _name, ...rest } = await owned(cluster, row)
      const engine = row['engine_id']?.toLowerCase() || engineOf(cluster)
      return sealSecrets(cluster, SNMP_USERS, { ...withVersion3(rest), engine_id: engine })
    },
  }),
  modify: plainModify(SNMP_USERS, { exampleChange: { comment: 'Read by the monitoring system' } }),
  remove: plainRemove(SNMP_USERS, {
    inUse: ({ row }) => failure(failures.snmpUserInUse, { host: textOf(row['host']) }),
  }),
})

/** The engine of the cluster, as RFC 3411 has it: the enterprise, a 5 for what comes next, and octets of its own. */
function engineOf(cluster: Cluster): string {
  return `8000031505${namedUuid(cluster, 'SNMP engine').replaceAll('-', '')}`
}

/** The SVM that an owner names; without one it is the cluster. */
async function owned(cluster: Cluster, row: DraftOf<'support/snmp/users'>): Promise<Row> {
  const [self] = await cluster.rows('cluster')
  const { 'owner.uuid': given, ...rest } = row
  const name = row['owner.name'] ?? ''
  const uuid =
    given === undefined && name !== '' ? await cluster.keyOfName('svm/svms', name) : (row['owner.uuid'] ?? '')
  if (given === self?.['uuid'] || (given === undefined && (name === '' || name === self?.['name']))) return rest
  const svm = await cluster.find('svm/svms', uuid ?? '')
  if (svm === undefined || (name !== '' && svm['name'] !== name)) {
    throw failure(failures.snmpOwnerUnknown)
  }
  return { ...rest, 'owner.uuid': uuid ?? '' }
}

/** A community has nothing of version 3; a user has the protocols that it names, each with its password. */
function withVersion3(row: DraftOf<'support/snmp/users'>): Row {
  const method = row['authentication_method'] ?? ''
  const given = Object.keys(row).find((path) => path.startsWith('snmpv3.'))
  if (method === 'community') {
    if (given !== undefined) throw failure(failures.communityFieldUnfit, { field: given })
    return row
  }
  const proof = (row['snmpv3.authentication_protocol'] ?? '') || 'none'
  const privacy = (row['snmpv3.privacy_protocol'] ?? '') || 'none'
  for (const [protocol, path] of [
    [proof, 'snmpv3.authentication_password'],
    [privacy, 'snmpv3.privacy_password'],
  ] as const) {
    if (protocol !== 'none' && row[path] === undefined) throw failure('fieldRequired', { field: path })
    if (protocol === 'none' && row[path] !== undefined) {
      throw failure(failures.snmpProtocolMissing, { field: path })
    }
  }
  if (proof === 'none' && privacy !== 'none') {
    throw failure(failures.privacyWithoutAuthentication)
  }
  return { ...row, 'snmpv3.authentication_protocol': proof, 'snmpv3.privacy_protocol': privacy }
}
