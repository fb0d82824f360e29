import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { plainCreate, plainRemove } from '../../../core/plain.ts'
import { failure } from '../../../model/failure.ts'
import { errno } from '../../../model/failures/errno.ts'
import { invalid } from '../../../model/failures/forms.ts'
import { ownFailures } from '../../../model/failures/index.ts'
import { address, Misfit, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { namesBy } from '../../../model/naming.ts'
import { hostAddress } from '../addresses.ts'
import { SNMP_TRAPHOSTS, SNMP_USERS } from './users.ts'

const TRAPHOSTS_MAX = 256

/** The SNMP engine of the user. Trap hosts of earlier releases lack it. */
const ENGINE = '$engine'

const snmpTraphostsResource = resource({
  path: '/support/snmp/traphosts',
  noun: 'trap host',
  doc: 'Hosts that receive SNMP traps. Stored without effect: traps are not sent yet.',
  key: ['host'],
  recordKey: ['host'],
  nameWithin: false,
  within: { user: namesBy(SNMP_USERS, 'blocks', 'user.name', { under: ENGINE }) },
  fields: {
    host: { doc: 'The host name or IP address of the trap host.', kind: hostAddress(), set: 'create', required: true },
    ip_address: { doc: 'The IP address of the trap host, if it is given as an address.', kind: address() },
    user: { doc: 'The SNMP user that traps are sent as.', isGroup: true },
    'user.name': {
      doc: 'The SNMPv3 user that sends the traps. Default: traps are sent with a community.',
      kind: text({ charactersMax: 32 }),
      set: 'create',
    },
  },
})

const failures = ownFailures({
  traphostUserUnknown: invalid(
    'user.name',
    'There is no SNMP user of version 3 named "{name}".',
    'Make the SNMP user first.',
    { code: '9043991', errno: errno.objectNotFound },
  ),
})

export const snmpTraphosts: Behaviour<typeof snmpTraphostsResource> = define(snmpTraphostsResource, {
  failures,
  create: plainCreate(SNMP_TRAPHOSTS, {
    example: { host: 'traps.example.com' },
    async check(cluster, row) {
      if ((await cluster.rows(SNMP_TRAPHOSTS)).length >= TRAPHOSTS_MAX) {
        throw failure('clusterLimitReached', { max: TRAPHOSTS_MAX, things: 'trap hosts' })
      }
      const user = row['user.name'] ?? ''
      const known = (await cluster.rows(SNMP_USERS)).find(
        (one) => one['name'] === user && one['authentication_method'] !== 'community',
      )
      if (user !== '' && known === undefined) {
        throw failure(failures.traphostUserUnknown, { name: user })
      }
      const { host } = row
      const whole = isAddress(host) ? { ...row, ip_address: host } : row
      return known === undefined ? whole : { ...whole, [ENGINE]: known['engine_id'] }
    },
  }),
  remove: plainRemove(SNMP_TRAPHOSTS),
})

/** Trap hosts of earlier releases name their user without its engine. At each start. */
export async function adoptTraphosts(cluster: Cluster): Promise<void> {
  const old = (await cluster.records(SNMP_TRAPHOSTS)).filter(
    ({ body }) => body['user.name'] !== undefined && body[ENGINE] === undefined,
  )
  if (old.length === 0) return
  const users = await cluster.rows(SNMP_USERS)
  for (const { body, revision } of old) {
    const user = users.find((one) => one['name'] === body['user.name'] && one['authentication_method'] !== 'community')
    if (user === undefined) continue
    await cluster.commit([cluster.put(SNMP_TRAPHOSTS, { ...body, [ENGINE]: user['engine_id'] }, { expect: revision })])
  }
}

function isAddress(host: string): boolean {
  try {
    address().parse(host)
    return true
  } catch (failure) {
    if (failure instanceof Misfit) return false
    throw failure
  }
}
