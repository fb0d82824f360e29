import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { inline } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { Misfit, count, each, flag, oneOf, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { namesBy } from '../../../model/naming.ts'
import { hostAddress, mailAddress, webAddress } from '../addresses.ts'
import { EMS_DESTINATIONS, EMS_FILTERS, EMS_LOCK, emsName, filterNames } from './filters.ts'
import type { NewOf } from '../../../model/rows.ts'

const DESTINATIONS_MAX = 128
const SYSLOG = {
  'syslog.port': 514,
  'syslog.transport': 'udp_unencrypted',
  'syslog.format.message': 'legacy_netapp',
  'syslog.format.timestamp_override': 'no_override',
  'syslog.format.hostname_override': 'no_override',
} as const

const emsDestinationsResource = resource({
  path: '/support/ems/destinations',
  noun: 'event destination',
  doc: 'Destinations receive the events that their filters include. Stored without effect: events are not sent yet.',
  key: ['name'],
  recordKey: ['name'],
  nameWithin: false,
  columns: ['name', 'type', 'destination', 'filters.name'],
  form: {
    Destination: ['name', 'type', 'destination', 'filters'],
    Syslog: ['syslog.port', 'syslog.transport', 'syslog.format.message'],
    Certificate: ['certificate.ca', 'certificate.serial_number'],
  },
  removal: 'undoable',
  within: { filters: namesBy(EMS_FILTERS, 'blocks', 'filters.name') },
  fields: {
    name: { doc: 'The name of the destination.', kind: emsName(), set: 'create', required: true },
    type: {
      doc: 'How events are sent to the destination.',
      kind: oneOf({
        snmp: 'By SNMP traps. The cluster comes with this destination.',
        email: 'By e-mail.',
        syslog: 'By syslog.',
        rest_api: 'By requests to a web server.',
      }),
      set: 'create',
      required: true,
    },
    destination: {
      doc: 'The e-mail address, the syslog host, or the URL of the web server.',
      kind: text({ charactersMax: 1024 }),
      set: 'always',
      required: true,
    },
    filters: {
      doc: 'The filters that select events for the destination.',
      kind: each({ name: { kind: text(), doc: 'The name of the filter.', required: true } }, { elementsMax: 50 }),
      set: 'always',
      default: [],
    },
    system_defined: { doc: 'Whether the destination is built in.', kind: flag(), since: '9.10.1' },
    certificate: { doc: 'The client certificate for the destination.', isGroup: true },
    'certificate.ca': {
      when: { field: 'type', is: ['rest_api'] },
      doc: 'The issuer of the client certificate for a web server.',
      kind: text({ charactersMax: 256 }),
      set: 'always',
    },
    'certificate.serial_number': {
      when: { field: 'type', is: ['rest_api'] },
      doc: 'The serial number of the client certificate for a web server.',
      kind: text({ charactersMax: 40 }),
      set: 'always',
    },
    syslog: { doc: 'Settings of a syslog destination.', isGroup: true },
    'syslog.port': {
      when: { field: 'type', is: ['syslog'] },
      doc: 'The port of the syslog host.',
      kind: count({ min: 1, max: 65_535 }),
      set: 'always',
      since: '9.12.1',
    },
    'syslog.transport': {
      when: { field: 'type', is: ['syslog'] },
      doc: 'The transport to the syslog host.',
      kind: oneOf({ udp_unencrypted: 'UDP.', tcp_unencrypted: 'TCP without TLS.', tcp_encrypted: 'TCP with TLS.' }),
      set: 'always',
      since: '9.12.1',
    },
    'syslog.format': { doc: 'The format of syslog messages.', isGroup: true },
    'syslog.format.message': {
      when: { field: 'type', is: ['syslog'] },
      doc: 'The format of syslog messages.',
      kind: oneOf({ legacy_netapp: 'The format of earlier releases.', rfc_5424: 'The format of RFC 5424.' }),
      set: 'always',
      since: '9.12.1',
    },
    'syslog.format.timestamp_override': {
      when: { field: 'type', is: ['syslog'] },
      doc: 'The format of the time in syslog messages.',
      kind: oneOf({
        no_override: 'The format of the message decides.',
        rfc_3164: 'The format of RFC 3164.',
        iso_8601_local_time: 'ISO 8601 in local time.',
        iso_8601_utc: 'ISO 8601 in UTC.',
      }),
      set: 'always',
      since: '9.12.1',
    },
    'syslog.format.hostname_override': {
      when: { field: 'type', is: ['syslog'] },
      doc: 'The format of the host name in syslog messages.',
      kind: oneOf({
        no_override: 'The format of the message decides.',
        fqdn: 'The full name.',
        hostname_only: 'The name without the domain.',
      }),
      set: 'always',
      since: '9.12.1',
    },
  },
})

export const emsDestinations: Behaviour<typeof emsDestinationsResource> = define(emsDestinationsResource, {
  derive: [
    {
      gives: ['system_defined'],
      from: (_cluster, rows) => Promise.resolve(rows.map((row) => ({ system_defined: row['$isBuiltIn'] === true }))),
    },
  ],
  create: inline({
    example: {
      name: 'operators',
      type: 'email',
      destination: 'operators@example.com',
      filters: [{ name: 'important-events' }],
    },
    async plan(cluster, { draft }) {
      const key = draft['name']
      const known = await cluster.rows(EMS_DESTINATIONS)
      if (known.some((row) => row['name'] === key)) {
        throw failure('eventDestinationTaken', { name: key })
      }
      if (known.length >= DESTINATIONS_MAX) {
        throw failure('clusterLimitReached', { max: DESTINATIONS_MAX, things: 'event destinations' })
      }
      if (draft['type'] === 'snmp') {
        throw failure('trapDestinationUnfit')
      }
      const input = { ...(draft['type'] === 'syslog' ? SYSLOG : {}), ...draft }
      await insistOnFit(cluster, input)
      return { key, input, locks: [EMS_LOCK] }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        await insistOnFit(cluster, input)
        await cluster.commit([cluster.put(EMS_DESTINATIONS, input, { expect: 'absent' })])
      },
    },
  }),
  modify: inline({
    async plan(cluster, { row, draft }) {
      await insistOnFit(cluster, { ...row, ...draft })
      return { key: row['name'], input: { ...draft }, locks: [EMS_LOCK] }
    },
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        const row = { ...(await cluster.row(EMS_DESTINATIONS, key)), ...input }
        await insistOnFit(cluster, row)
        await cluster.commit([cluster.put(EMS_DESTINATIONS, row)])
      },
    },
  }),
  remove: inline({
    plan(_cluster, { row }) {
      if (row['$isBuiltIn'] === true) {
        throw failure('builtInEventDestination')
      }
      return Promise.resolve({ key: row['name'], input: {}, locks: [EMS_LOCK] })
    },
    step: {
      name: 'remove record',
      async run(cluster, { key }) {
        await cluster.commit([{ do: 'remove-record', type: EMS_DESTINATIONS, key }])
      },
    },
  }),
})

const ADDRESSES = { email: mailAddress(), syslog: hostAddress(), rest_api: webAddress() } as const

/** The filters are there, and the destination is one of its type. */
async function insistOnFit(cluster: Cluster, row: NewOf<'support/ems/destinations'>): Promise<void> {
  const type = row['type']
  for (const [path, value] of Object.entries(row)) {
    if (path.startsWith('syslog.') && type !== 'syslog' && value !== null) {
      throw failure('eventDestinationFieldUnfit', { type, field: path })
    }
    if (path.startsWith('certificate.') && type !== 'rest_api' && value !== null) {
      throw failure('eventDestinationFieldUnfit', { type, field: path })
    }
  }
  const names = filterNames(row)
  for (const name of names) {
    if ((await cluster.find(EMS_FILTERS, name)) === undefined) {
      throw failure('eventFilterUnknown', { name: name.slice(0, 80) })
    }
  }
  if (new Set(names).size < names.length) throw failure('eventFilterTwice')
  if (type !== 'email' && type !== 'syslog' && type !== 'rest_api') {
    if (row['destination'] !== '') throw failure('eventDestinationReserved')
    return
  }
  try {
    ADDRESSES[type].parse(row['destination'])
  } catch (misfit) {
    if (misfit instanceof Misfit) throw failure('fieldInvalid', { field: 'destination', problem: misfit.message })
    throw misfit
  }
}
