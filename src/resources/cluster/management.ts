/** How the cluster is reached and whether it is well: addresses, certificate, time, health. */
import type { Derivation } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { DAMAGE, isLoss } from '../../storage/damage.ts'
import { namedUuid } from '../../records/named-uuid.ts'
import { failure } from '../../model/failure.ts'
import { address, each, group, list, Misfit, oneOf, text, uuid, type Kind } from '../../model/kinds/index.ts'
import type { FieldDeclaration, Fields } from '../../model/resource.ts'
import { CERTIFICATES } from '../security/certificates.ts'
import { diskOf } from '../storage/aggregates/space.ts'
import type { DraftOf, RowOf } from '../../model/rows.ts'
import type { Row } from '../../model/value.ts'

const UTC = 'Etc/UTC'
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

const zone = text({ charactersMin: 1, charactersMax: 64 })

/** A time zone of the IANA data base: `Europe/Berlin`. */
const timezone: Kind<string> = {
  ...zone,
  parse(value) {
    const given = zone.parse(value)
    if (isZone(given)) return given
    throw new Misfit(`"${given}" is not a time zone. It takes one such as ${UTC} or Europe/Berlin.`)
  },
}

function isZone(given: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: given }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

export const managementInterfacesField = {
  doc: 'The management addresses of the cluster.',
  kind: each({
    name: { kind: text(), doc: 'The name of the management interface.' },
    uuid: { kind: uuid(), doc: 'The UUID of the management interface.' },
    ip: {
      kind: group({ address: { kind: address(), doc: 'The IP address of the management interface.' } }),
      doc: 'The IP address of the management interface.',
    },
  }),
} as const satisfies FieldDeclaration

export const managementFields = {
  management_interfaces: managementInterfacesField,
  management_interface: { doc: 'The interface that serves the management address of the cluster.', isGroup: true },
  'management_interface.ip': { doc: 'The IP address of the management interface.', isGroup: true },
  'management_interface.ip.address': { doc: 'The first management address of the cluster.', kind: address() },
  license: { doc: 'License keys to install while the cluster is set up.', isGroup: true },
  'license.keys': {
    doc: 'License keys. Never shown: licenses are at `/cluster/licensing/licenses`.',
    kind: list(text()),
  },
  ntp_servers: { doc: 'The NTP servers of the cluster. Also at `/cluster/ntp/servers`.', kind: list(text()) },
  timezone: { doc: 'The time zone of the cluster.', isGroup: true },
  'timezone.name': {
    doc: 'The time zone of the cluster. Stored without effect: all times are UTC, including those of schedules.',
    kind: timezone,
    set: 'modify',
  },
  certificate: {
    doc: 'The certificate of the management interface. Stored without effect: the interface uses its own certificate.',
    ref: CERTIFICATES,
    set: 'modify',
  },
  health: {
    doc: 'The health of the cluster.',
    kind: oneOf({
      ok: 'No problem is known.',
      degraded: 'The folder of an aggregate is missing, or a stored object is damaged.',
    }),
    isExpensive: true,
  },
} as const satisfies Fields

export const managementInterfaces: Derivation<
  Row,
  'management_interfaces',
  Pick<RowOf<'cluster'>, 'management_interfaces'>
> = {
  gives: ['management_interfaces'],
  async from(cluster, rows) {
    const found = (await managementAddresses(cluster)).map((each, at) => ({
      name: `cluster_mgmt${at === 0 ? '' : at + 1}`,
      uuid: namedUuid(cluster, `management address ${each}`),
      ip: { address: each },
    }))
    return rows.map(() => ({ management_interfaces: found }))
  },
}

/** Where it is served at all of them, those by which the machine can be reached. */
async function managementAddresses(cluster: Cluster): Promise<readonly string[]> {
  const given = cluster.managementAddress ?? ''
  if (!ANY_ADDRESS.has(given)) return isAddress(given) ? [given] : []
  const ports = await cluster.machine.ports()
  return ports.filter(({ isLoopback }) => !isLoopback).flatMap(({ addresses }) => addresses)
}

/** It may be a host name instead, which stands for addresses that only the machine knows. */
function isAddress(given: string): boolean {
  try {
    address().parse(given)
    return true
  } catch {
    return false
  }
}

const firstInterface: Derivation<RowOf<'cluster'>> = {
  gives: ['management_interface.ip.address'],
  async from(cluster, rows) {
    const [first] = await managementAddresses(cluster)
    return rows.map(() => ({ 'management_interface.ip.address': first ?? null }))
  },
}

const ntpServers: Derivation<RowOf<'cluster'>> = {
  gives: ['ntp_servers'],
  async from(cluster, rows) {
    const servers = (await cluster.rows('cluster/ntp/servers')).map((row) => row['server']).toSorted()
    return rows.map(() => ({ ntp_servers: servers }))
  },
}

const usualZone: Derivation<RowOf<'cluster'>> = {
  gives: ['timezone.name'],
  from: (_cluster, rows) => Promise.resolve(rows.map((row) => ({ 'timezone.name': row['timezone.name'] ?? UTC }))),
}

const health: Derivation<RowOf<'cluster'>> = {
  gives: ['health'],
  async from(cluster, rows) {
    const aggregates = await cluster.rows('storage/aggregates')
    const disks = await Promise.all(aggregates.map((row) => diskOf(cluster, row['uuid'])))
    const isDamaged = (await cluster.rows(DAMAGE)).some((row) => isLoss(row['kind']))
    return rows.map(() => ({ health: isDamaged || disks.includes(undefined) ? 'degraded' : 'ok' }))
  },
}

export const managementReadings: readonly Derivation<RowOf<'cluster'>>[] = [
  managementInterfaces,
  firstInterface,
  ntpServers,
  usualZone,
  health,
]

/** The certificate that a change names is one of the cluster by which servers show who they are. */
export async function insistOnServerCertificate(cluster: Cluster, change: DraftOf<'cluster'>): Promise<void> {
  const key = change['certificate.uuid'] ?? ''
  if (key === '') return
  const found = await cluster.row(CERTIFICATES, key)
  if (found['type'] === 'server' && found['scope'] === 'cluster') return
  throw failure('clusterCertificateUnfit')
}
