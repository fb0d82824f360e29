import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { plainRemove } from '../../core/plain.ts'
import { inline } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import { list, name, oneOf, secret, text, uuid } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import {
  alternativeFields,
  alternativesOf,
  HASHES,
  USUAL_HASH,
  KEY_BITS,
  keyBits,
  PEM_CHARACTERS_MAX,
} from './certificates/asked.ts'
import { expiry, expiryMs } from './certificates/expiry.ts'
import { type Draft, type Installed, installed } from './certificates/install.ts'

export const CERTIFICATES = 'security/certificates'

/** Of the cluster and of all SVMs. */
const CERTIFICATES_MAX = 2000
const INTERMEDIATES_MAX = 10
/** A certificate that is made now is valid for clients whose clocks are a little late. */
const BEFORE_MS = 60 * 60 * 1000
const SERIALS = `${CERTIFICATES}:serial`

const certificatesResource = resource({
  path: `/${CERTIFICATES}`,
  noun: 'certificate',
  doc: 'Certificates of the cluster and of SVMs, created here or installed. Object store servers use certificates of the type `server`; other certificates are stored without effect.',
  key: ['uuid'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  columns: ['name', 'common_name', 'type', 'svm.name', 'expiry_time', 'ca'],
  form: {
    Certificate: ['type', 'common_name', 'svm.name', 'name', 'expiry_time'],
    Key: ['key_size', 'hash_function'],
    'Alternative names': [
      'subject_alternatives.dns',
      'subject_alternatives.ip',
      'subject_alternatives.email',
      'subject_alternatives.uri',
    ],
    Install: ['public_certificate', 'private_key', 'intermediate_certificates'],
  },
  fields: {
    uuid: { doc: 'The UUID of the certificate.', kind: uuid() },
    name: {
      doc: 'The name of the certificate. Default: the common name and the serial number.',
      kind: name({ charactersMax: 256, pattern: /^[^\s/]+$/, patternDoc: 'anything without blanks and "/"' }),
      set: 'create',
      since: '9.8',
    },
    svm: { doc: 'The SVM that owns the certificate. Default: the cluster.', ref: 'svm/svms', set: 'create' },
    scope: {
      doc: 'Whether the certificate belongs to the cluster or to an SVM.',
      kind: oneOf({ cluster: 'The certificate belongs to the cluster.', svm: 'The certificate belongs to an SVM.' }),
    },
    type: {
      doc: 'The purpose of the certificate.',
      kind: oneOf({
        client: 'Identifies a client.',
        server: 'Identifies a server.',
        client_ca: 'Trusted to sign certificates of clients.',
        server_ca: 'Trusted to sign certificates of servers.',
        root_ca: 'Signs other certificates.',
      }),
      set: 'create',
      required: true,
    },
    common_name: {
      doc: 'The common name of the certificate. Required to create a certificate.',
      kind: text({ charactersMin: 1, charactersMax: 64 }),
      set: 'create',
    },
    expiry_time: {
      doc: 'When the certificate expires: a time, or a duration from now such as P365D. Default: one year.',
      kind: expiry(),
      set: 'create',
    },
    key_size: { doc: 'The size of the RSA key in bits.', kind: keyBits(), set: 'create' },
    hash_function: { doc: 'The hash function of the signature.', kind: oneOf(HASHES), set: 'create' },
    public_certificate: {
      doc: 'The certificate in PEM. Give it to install an existing certificate.',
      kind: text({ charactersMin: 1, charactersMax: PEM_CHARACTERS_MAX }),
      set: 'create',
      since: '9.8',
    },
    private_key: {
      doc: 'The private key in PEM, without a passphrase. Never shown.',
      kind: secret({ charactersMin: 1, charactersMax: PEM_CHARACTERS_MAX }),
      set: 'create',
    },
    intermediate_certificates: {
      doc: 'The certificates between the certificate and its root, in PEM and in order.',
      kind: list(text({ charactersMin: 1, charactersMax: PEM_CHARACTERS_MAX }), { elementsMax: INTERMEDIATES_MAX }),
      set: 'create',
    },
    ...alternativeFields('9.15.1'),
    ca: { doc: 'The issuer of the certificate.', kind: text() },
    serial_number: { doc: 'The serial number of the certificate in hexadecimal digits.', kind: text() },
  },
})

/** What no two certificates have in common. */
const SERIAL_PATHS = ['svm.uuid', 'type', 'ca', 'serial_number'] as const

export const certificates: Behaviour<typeof certificatesResource> = define(certificatesResource, {
  create: inline({
    example: { name: 'certificate_example', type: 'server', common_name: 'server.example.com' },
    async plan(cluster, { draft }) {
      if ((await cluster.rows(CERTIFICATES)).length >= CERTIFICATES_MAX) {
        throw failure('clusterLimitReached', { max: CERTIFICATES_MAX, things: 'certificates' })
      }
      const isGiven = draft['public_certificate'] !== undefined
      const whole = isGiven ? installed(cluster, draft) : await made(cluster, draft)
      const row = { ...whole, uuid: cluster.system.random.uuid(), scope: scopeOf(draft) }
      await insistOnName(cluster, row)
      return { key: row.uuid, input: row }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        const serial = SERIAL_PATHS.map((path) => input[path] ?? '').join('/')
        await cluster.commit([cluster.put(CERTIFICATES, input, { expect: 'absent', unique: { [SERIALS]: serial } })])
      },
    },
  }),
  remove: plainRemove(CERTIFICATES, {
    inUse: ({ resource, name: server }) =>
      resource.type === 'cluster'
        ? failure('clusterCertificateInUse')
        : failure('objectStoreCertificateInUse', { server }),
  }),
})

function scopeOf(draft: Draft): 'cluster' | 'svm' {
  return (draft['svm.uuid'] ?? '') === '' ? 'cluster' : 'svm'
}

/** A certificate that signs itself, with its private key sealed. */
async function made(cluster: Cluster, draft: Draft): Promise<Installed> {
  const { type } = draft
  if (type === 'client_ca' || type === 'server_ca') {
    throw failure('certificateTypeInstalled')
  }
  for (const path of ['private_key', 'intermediate_certificates'] as const) {
    if (draft[path] !== undefined) throw failure('certificateFieldAlone', { field: path })
  }
  if (draft['common_name'] === undefined) throw failure('fieldRequired', { field: 'common_name' })
  const now = cluster.now()
  const { certificate, privateKey } = await cluster.certificates.makeSelfSigned({
    commonName: draft['common_name'] ?? '',
    keyBits: Number(draft['key_size'] ?? KEY_BITS[0]),
    hash: (draft['hash_function'] ?? '') || USUAL_HASH,
    notBeforeMs: now - BEFORE_MS,
    notAfterMs: expiryMs(draft['expiry_time'], now),
    isCa: type === 'root_ca',
    alternatives: alternativesOf(draft),
  })
  const { expiry_time: _, ...rest } = draft
  return installed(cluster, { ...rest, public_certificate: certificate, private_key: privateKey })
}

async function insistOnName(cluster: Cluster, row: Installed): Promise<void> {
  const given = row['name']
  if ((await cluster.keyOfName(CERTIFICATES, given, row['svm.uuid'] ?? '')) !== undefined) {
    throw failure('certificateNameTaken', { name: given.slice(0, 80) })
  }
}
