import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { plainVerbs } from '../../../core/plain.ts'
import { failures } from '../../../model/failure.ts'
import { groups, resource } from '../../../model/resource.ts'
import { address, count, duration, flag, list, oneOf, text } from '../../../model/kinds/index.ts'
import type { FieldDeclaration } from '../../../model/resource.ts'
import { type Row, textAt } from '../../../model/value.ts'
import { insistOnFree, NATIVE_ENGINE, partFields, partOfSvm, policiesOf, POLICIES_LOCK } from './names.ts'

export const FPOLICY_ENGINES = 'protocols/fpolicy/{svm.uuid}/engines'

const BUFFER_BYTES_MAX = 7_895_160
const SERVERS_MAX = 5

/** What clients of the interface know these failures by. */
const codes = {
  serverTwice: 9764885,
  enabled: 9764942,
  used: 9764940,
  reserved: 9764953,
  certificate: 9765011,
  directory: 9765012,
} as const

const plain = plainVerbs(FPOLICY_ENGINES, {
  example: { name: 'engine_example', primary_servers: ['192.0.2.10'], port: 9876, type: 'asynchronous' },
  check(_cluster, row) {
    checkEngine(row)
    return row
  },
})

const fpolicyEnginesResource = resource({
  ...partOfSvm(FPOLICY_ENGINES),
  noun: 'FPolicy engine',
  doc: 'The servers that FPolicy tells, or asks. They are records: no files are served yet.',
  fields: {
    ...groups({
      certificate: 'The certificate that the SVM shows to the policy server.',
      buffer_size: 'Socket buffers of the connection to the policy server.',
      resiliency: 'Keeping of notifications while the policy server is away.',
    }),
    ...partFields('engine'),
    primary_servers: servers('The servers that are told.', true),
    secondary_servers: servers('Those that are told where none of the first can be reached.', false),
    port: { doc: 'Where the servers listen.', kind: count({ min: 1, max: 65_535 }), set: 'always', required: true },
    type: {
      doc: '`synchronous`: they are asked and may refuse. `asynchronous`: they are told.',
      kind: oneOf('synchronous', 'asynchronous'),
      set: 'always',
      default: 'synchronous',
    },
    ssl_option: {
      doc: 'Who shows a certificate to whom.',
      kind: oneOf('no_auth', 'server_auth', 'mutual_auth'),
      set: 'always',
      default: 'no_auth',
      since: '9.11.1',
    },
    format: {
      doc: 'How they are told.',
      kind: oneOf('xml'),
      set: 'always',
      default: 'xml',
      since: '9.15.1',
    },
    'certificate.name': word('The name of the certificate that is shown.'),
    'certificate.serial_number': word('Its serial number.'),
    'certificate.ca': word('Who signed it.'),
    'buffer_size.recv_buffer': bytesOf('Bytes that are kept of what a server sends.', 262_144),
    'buffer_size.send_buffer': bytesOf('Bytes that are kept of what is sent to it.', 1_048_576),
    max_server_requests: {
      doc: 'Requests to one server at once.',
      kind: count({ min: 1, max: 10_000 }),
      set: 'always',
      default: 500,
      since: '9.11.1',
    },
    max_connection_retries: {
      doc: 'How often a connection is tried again.',
      kind: count({ min: 0, max: 20 }),
      set: 'always',
      default: 5,
      since: '9.11.1',
    },
    request_cancel_timeout: span('After this, a request is called back.', 20),
    request_abort_timeout: span('After this, a request is given up.', 40),
    server_progress_timeout: span('After this without an answer, a server is left.', 60),
    status_request_interval: span('So often a server is asked how far it is.', 10),
    keep_alive_interval: span('So often a quiet server is greeted.', 120),
    session_timeout: span('So long a session can be taken up again.', 10, '9.14.1'),
    'resiliency.enabled': {
      doc: 'Whether what cannot be told is kept in files.',
      kind: flag(),
      set: 'always',
      default: false,
      since: '9.11.1',
    },
    'resiliency.directory_path': word('Where these files are to be.'),
    'resiliency.retention_duration': span('How long they are kept.', 180, '9.11.1'),
  },
})

export const fpolicyEngines: Behaviour<typeof fpolicyEnginesResource> = define(fpolicyEnginesResource, {
  create: insistOnFree(plain.create, FPOLICY_ENGINES),
  modify: {
    ...plain.modify,
    alone: () => [POLICIES_LOCK],
    async plan(cluster, request) {
      const user = (await usersOf(cluster, request.row ?? {})).find(({ enabled }) => enabled === true)
      if (user !== undefined) {
        const message = `The FPolicy policy "${textAt(user, 'name')}" has the engine and is enabled. Disable it first.`
        throw failures.inUse(message, 'name', codes.enabled)
      }
      return plain.modify.plan(cluster, request)
    },
  },
  remove: {
    ...plain.remove,
    alone: () => [POLICIES_LOCK],
    async plan(cluster, request) {
      const [user] = await usersOf(cluster, request.row ?? {})
      if (user !== undefined) {
        throw failures.inUse(`The FPolicy policy "${textAt(user, 'name')}" has the engine.`, 'name', codes.used)
      }
      return plain.remove.plan(cluster, request)
    },
  },
})

function checkEngine(row: Row): void {
  if (textAt(row, 'name') === NATIVE_ENGINE) {
    throw failures.invalid(
      'name',
      `"${NATIVE_ENGINE}" is the engine of the cluster. Choose another name.`,
      codes.reserved,
    )
  }
  const primary = (row['primary_servers'] ?? []) as readonly string[]
  const all = [...primary, ...((row['secondary_servers'] ?? []) as readonly string[])]
  if (primary.length === 0) throw failures.badValue('primary_servers', 'it needs one server at least.')
  if (new Set(all).size < all.length) {
    throw failures.invalid('secondary_servers', 'A server is given twice.', codes.serverTwice)
  }
  const hasCertificate = ['name', 'serial_number', 'ca'].every((word) => textAt(row, `certificate.${word}`) !== '')
  if (row['ssl_option'] === 'mutual_auth' && !hasCertificate) {
    const message = 'mutual_auth needs the name, the serial number and the CA of a certificate.'
    throw failures.invalid('certificate.name', message, codes.certificate)
  }
  if (row['resiliency.enabled'] === true && textAt(row, 'resiliency.directory_path') === '') {
    throw failures.invalid('resiliency.directory_path', 'Resiliency needs a folder for its files.', codes.directory)
  }
}

async function usersOf(cluster: Cluster, engine: Row): Promise<Row[]> {
  const policies = await policiesOf(cluster, textAt(engine, 'svm.uuid'))
  return policies.filter((policy) => policy['engine.name'] === engine['name'])
}

function servers(doc: string, required: boolean): FieldDeclaration {
  return { doc, kind: list(address(), { elementsMax: SERVERS_MAX }), set: 'always', required }
}

function word(doc: string): FieldDeclaration {
  return { doc, kind: text({ charactersMax: 256 }), set: 'always', since: '9.11.1' }
}

function bytesOf(doc: string, byDefault: number): FieldDeclaration {
  return { doc, kind: count({ min: 0, max: BUFFER_BYTES_MAX }), set: 'always', default: byDefault, since: '9.11.1' }
}

function span(doc: string, bySeconds: number, since = '9.11.1'): FieldDeclaration {
  return { doc, kind: duration(), set: 'always', default: bySeconds, since }
}
