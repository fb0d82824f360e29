import type { Fields } from '../../../model/resource.ts'
import { CERTIFICATES } from '../../security/certificates.ts'
import { bytes, count, flag, name, oneOf, text, uuid } from '../../../model/kinds/index.ts'
import { objectBytesDefault } from '../../../records/object-servers.ts'

/** 5 TiB: Amazon S3 User Guide, "Multipart upload limits". */
const OBJECT_BYTES_MAX = 5 * 2 ** 40

/** What lists and forms show of object store servers. */
export const serverFaces = {
  columns: ['name', 'svm.name', 'enabled', 'is_https_enabled', 'secure_port', 'is_http_enabled', 'port', 'comment'],
  form: {
    Server: ['name', 'svm.name', 'enabled', 'comment', 'bucket_endpoint_style'],
    Volumes: ['root_volume.name', 'data_volumes'],
    Connections: ['is_https_enabled', 'secure_port', 'certificate.name', 'is_http_enabled', 'port'],
    Access: ['policy.name'],
  },
  removal: 'disruptive',
} as const

/** The fields of an object store server: the same rows are shown at two paths. */
export function serverFields(options: { readonly rootIsRequired: boolean }) {
  return {
    uuid: { doc: 'The UUID of the server.', kind: uuid() },
    name: {
      doc: 'The name of the server: the domain name that clients of the virtual-hosted style use.',
      kind: name({
        charactersMin: 2,
        charactersMax: 253,
        pattern: /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/,
        patternDoc: 'letters, digits, ".", "-" and "_"',
      }),
      set: 'always',
      required: true,
    },
    svm: { doc: 'The SVM of the object store server.', ref: 'svm/svms', set: 'create', required: true },
    enabled: {
      danger: 'disruptive',
      doc: 'Whether the object store server serves. While it is disabled, its addresses stay open and each request is answered with 503 ServiceUnavailable.',
      kind: flag(),
      set: 'always',
      default: true,
    },
    comment: {
      doc: 'A comment that describes the object store server.',
      kind: text({ charactersMax: 256 }),
      set: 'always',
    },
    root_volume: {
      doc: 'The root volume of the object store server, which is empty and used by nothing else.',
      ref: 'storage/volumes',
      set: 'create',
      required: options.rootIsRequired,
    },
    data_volumes: { doc: 'The volumes in which buckets may be created.', refs: 'storage/volumes', set: 'always' },
    bucket_endpoint_style: {
      doc: 'How clients address buckets.',
      kind: oneOf({
        path_style: 'The bucket is the first part of the path.',
        virtual_hosted_style: 'The bucket is the first part of the host name.',
      }),
      set: 'create',
      default: 'path_style',
    },
    policy: { doc: 'The object store policy of the server.', isGroup: true },
    'policy.name': {
      doc: 'A policy of the SVM whose statements apply to all requests to the server.',
      kind: text({ charactersMax: 128 }),
      set: 'always',
      default: 'default',
    },
    certificate: {
      doc: 'The certificate of the object store server, from the SVM or the cluster. Default: the certificate of the management interface. Servers at the same address share one certificate.',
      ref: CERTIFICATES,
      set: 'always',
    },
    object_size_max: {
      doc: 'The maximum size of an object in bytes, up to 5 TiB. Objects larger than 5 GiB must be uploaded in parts.',
      kind: bytes({ min: 1, max: OBJECT_BYTES_MAX }),
      set: 'always',
      default: objectBytesDefault,
    },
    is_http_enabled: {
      doc: 'Whether the object store server accepts requests without TLS.',
      kind: flag(),
      set: 'always',
      default: true,
    },
    is_https_enabled: {
      doc: 'Whether the object store server accepts requests with TLS.',
      kind: flag(),
      set: 'always',
      default: true,
    },
    port: {
      doc: 'The TCP port for requests without TLS.',
      kind: count({ min: 1, max: 65_535 }),
      set: 'always',
      default: 80,
    },
    secure_port: {
      doc: 'The TCP port for requests with TLS.',
      kind: count({ min: 1, max: 65_535 }),
      set: 'always',
      default: 443,
    },
  } as const satisfies Fields
}
