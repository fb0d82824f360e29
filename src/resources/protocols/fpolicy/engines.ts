import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { plainVerbs, plainRemove } from '../../../core/plain.ts'
import { failure } from '../../../model/failure.ts'
import { groups, resource } from '../../../model/resource.ts'
import { address, count, duration, flag, list, oneOf, text } from '../../../model/kinds/index.ts'
import type { FieldDeclaration } from '../../../model/resource.ts'
import type { NewOf, RowOf } from '../../../model/rows.ts'
import { insistOnFree, NATIVE_ENGINE, partFields, partOfSvm, policiesOf, POLICIES_LOCK } from './names.ts'

export const FPOLICY_ENGINES = 'protocols/fpolicy/{svm.uuid}/engines'

const BUFFER_BYTES_MAX = 7_895_160
const SERVERS_MAX = 5

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
  doc: 'FPolicy engines are the servers that receive notifications of FPolicy. Stored without effect: files are not served yet.',
  fields: {
    ...groups({
      certificate: 'The certificate that the SVM shows to the policy server.',
      buffer_size: 'Socket buffers of the connection to the policy server.',
      resiliency: 'Keeping of notifications while the policy server is away.',
    }),
    ...partFields('engine'),
    primary_servers: { ...servers('The addresses of the primary servers.'), required: true },
    secondary_servers: servers('The addresses of the servers used if no primary server can be reached.'),
    port: { doc: 'The TCP port of the servers.', kind: count({ min: 1, max: 65_535 }), set: 'always', required: true },
    type: {
      doc: 'How operations wait for the servers.',
      kind: oneOf({
        synchronous: 'An operation waits for a server, which may refuse it.',
        asynchronous: 'An operation does not wait.',
      }),
      set: 'always',
      default: 'synchronous',
    },
    ssl_option: {
      doc: 'The authentication of TLS connections to the servers.',
      kind: oneOf({
        no_auth: 'No TLS.',
        server_auth: 'The servers show a certificate.',
        mutual_auth: 'The servers and the SVM show certificates.',
      }),
      set: 'always',
      default: 'no_auth',
      since: '9.11.1',
    },
    format: {
      doc: 'The format of notifications.',
      kind: oneOf({ xml: 'XML.' }),
      set: 'always',
      default: 'xml',
      since: '9.15.1',
    },
    'certificate.name': word('The name of the certificate that the SVM shows.'),
    'certificate.serial_number': word('The serial number of the certificate that the SVM shows.'),
    'certificate.ca': word('The issuer of the certificate that the SVM shows.'),
    'buffer_size.recv_buffer': bytesOf('The size of the receive buffer in bytes.', 262_144),
    'buffer_size.send_buffer': bytesOf('The size of the send buffer in bytes.', 1_048_576),
    max_server_requests: {
      doc: 'The maximum number of outstanding requests to a server.',
      kind: count({ min: 1, max: 10_000 }),
      set: 'always',
      default: 500,
      since: '9.11.1',
    },
    max_connection_retries: {
      doc: 'The maximum number of retries to connect to a server.',
      kind: count({ min: 0, max: 20 }),
      set: 'always',
      default: 5,
      since: '9.11.1',
    },
    request_cancel_timeout: span('How long a server may take before a request is canceled.', 20),
    request_abort_timeout: span('How long a server may take before a request is aborted.', 40),
    server_progress_timeout: span('How long a server may be silent before the connection is closed.', 60),
    status_request_interval: span('The interval between status requests to a server.', 10),
    keep_alive_interval: span('The interval between keep-alive messages to a server.', 120),
    session_timeout: span('How long an interrupted session can be resumed.', 10, '9.14.1'),
    'resiliency.enabled': {
      doc: 'Whether notifications are stored in files while no server can be reached.',
      kind: flag(),
      set: 'always',
      default: false,
      since: '9.11.1',
    },
    'resiliency.directory_path': word('The folder in which notifications are stored.'),
    'resiliency.retention_duration': span('How long stored notifications are kept.', 180, '9.11.1'),
  },
})

export const fpolicyEngines: Behaviour<typeof fpolicyEnginesResource> = define(fpolicyEnginesResource, {
  create: insistOnFree(plain.create, FPOLICY_ENGINES),
  modify: {
    ...plain.modify,
    alone: () => [POLICIES_LOCK],
    async plan(cluster, request) {
      const user = (await usersOf(cluster, request.row)).find(({ enabled }) => enabled === true)
      if (user !== undefined) {
        throw failure('fpolicyEngineEnabled', { policy: user['name'] })
      }
      return plain.modify.plan(cluster, request)
    },
  },
  remove: plainRemove(FPOLICY_ENGINES, {
    inUse: ({ name }) => failure('fpolicyEngineInUse', { policy: name }),
  }),
})

function checkEngine(row: NewOf<typeof FPOLICY_ENGINES>): void {
  if (row['name'] === NATIVE_ENGINE) {
    throw failure('fpolicyEngineReserved')
  }
  const primary = row['primary_servers']
  const all = [...primary, ...(row['secondary_servers'] ?? [])]
  if (primary.length === 0) throw failure('fpolicyServersMissing')
  if (new Set(all).size < all.length) {
    throw failure('fpolicyServerTwice')
  }
  const certificate = [row['certificate.name'], row['certificate.serial_number'], row['certificate.ca']]
  const hasCertificate = certificate.every((word) => (word ?? '') !== '')
  if (row['ssl_option'] === 'mutual_auth' && !hasCertificate) {
    throw failure('fpolicyCertificateIncomplete')
  }
  if (row['resiliency.enabled'] === true && (row['resiliency.directory_path'] ?? '') === '') {
    throw failure('fpolicyResiliencyFolderMissing')
  }
}

async function usersOf(cluster: Cluster, engine: RowOf<typeof FPOLICY_ENGINES>) {
  const policies = await policiesOf(cluster, engine['svm.uuid'])
  return policies.filter((policy) => policy['engine.name'] === engine['name'])
}

function servers(doc: string) {
  return {
    doc,
    kind: list(address(), { elementsMax: SERVERS_MAX }),
    set: 'always',
  } as const satisfies FieldDeclaration
}

function word(doc: string) {
  return { doc, kind: text({ charactersMax: 256 }), set: 'always', since: '9.11.1' } as const satisfies FieldDeclaration
}

function bytesOf(doc: string, byDefault: number) {
  return {
    doc,
    kind: count({ min: 0, max: BUFFER_BYTES_MAX }),
    set: 'always',
    default: byDefault,
    since: '9.11.1',
  } as const satisfies FieldDeclaration
}

function span(doc: string, bySeconds: number, since = '9.11.1') {
  return { doc, kind: duration(), set: 'always', default: bySeconds, since } as const satisfies FieldDeclaration
}
