/**
 * What faces need to show a field well beside what it means: a label, when it applies, what a change may cost. Facts are
 * data, so that a form, a document and a test read the same ones. What can be derived is derived: a label from the path,
 * a unit from the kind, so that only exceptions are declared.
 */
import type { Value } from './value.ts'
import { plural } from './words.ts'

/** What calling an action or changing a field can cost, from nothing to what nobody gets back. */
export const dangers = ['harmless', 'undoable', 'disruptive', 'destructive', 'irreversible'] as const

export type Danger = (typeof dangers)[number]

/** A condition over a record or a draft. */
export type When =
  | { readonly field: string; readonly is: readonly Value[] }
  | { readonly field: string; readonly isSet: boolean }

/** Holds where the other fields say that a field applies. Forms hide it elsewhere; verbs still decide. */
export function applies(when: When, valueAt: (path: string) => Value | undefined): boolean {
  const value = valueAt(when.field) ?? null
  return 'is' in when ? when.is.includes(value) : (value !== null) === when.isSet
}

export interface Labels {
  readonly one: string
  readonly many: string
}

export function labelsOf(noun: string): Labels {
  return { one: capitalized(noun), many: capitalized(plural(noun)) }
}

/** Words that are written otherwise than in small letters. */
const SPELLINGS: Readonly<Record<string, string>> = {
  acl: 'ACL',
  acls: 'ACLs',
  ad: 'AD',
  afs: 'AFS',
  arn: 'ARN',
  ca: 'CA',
  cifs: 'SMB',
  cors: 'CORS',
  cpu: 'CPU',
  dns: 'DNS',
  fcp: 'FCP',
  gid: 'GID',
  ha: 'HA',
  http: 'HTTP',
  https: 'HTTPS',
  id: 'ID',
  iops: 'IOPS',
  ip: 'IP',
  ipspace: 'IPspace',
  iscsi: 'iSCSI',
  ldap: 'LDAP',
  lun: 'LUN',
  luns: 'LUNs',
  mac: 'MAC',
  mtu: 'MTU',
  nas: 'NAS',
  ndmp: 'NDMP',
  nfs: 'NFS',
  nis: 'NIS',
  ntp: 'NTP',
  nvme: 'NVMe',
  os: 'OS',
  qos: 'QoS',
  raid: 'RAID',
  s3: 'S3',
  san: 'SAN',
  smb: 'SMB',
  snmp: 'SNMP',
  ssh: 'SSH',
  ssl: 'SSL',
  svm: 'SVM',
  svms: 'SVMs',
  tcp: 'TCP',
  tls: 'TLS',
  udp: 'UDP',
  uid: 'UID',
  unix: 'UNIX',
  uri: 'URI',
  url: 'URL',
  uuid: 'UUID',
  vlan: 'VLAN',
}

/** Last words that say too little alone: `snapshot_policy.name`, `autosize.mode`. */
const BARE = new Set([
  'address',
  'code',
  'count',
  'enabled',
  'family',
  'id',
  'message',
  'mode',
  'name',
  'percent',
  'policy',
  'read',
  'write',
  'other',
  'total',
  'state',
  'status',
  'type',
  'uuid',
])

/** The label of a field whose declaration gives none: `svm.name` is SVM, `space.available_percent` Available percent. */
export function labelOf(path: string): string {
  const words = path.replaceAll('-', '_').split('.')
  const last = words.at(-1) ?? path
  const before = words.at(-2)
  if (before === undefined) return inWords(last)
  // Of a reference, the name is what people mean by it.
  if (last === 'name') return inWords(before)
  return inWords(BARE.has(last) ? `${before}_${last}` : last)
}

function inWords(path: string): string {
  const words = path.split('_').filter((word) => word !== '')
  return capitalized(words.map((word) => SPELLINGS[word] ?? word).join(' '))
}

function capitalized(text: string): string {
  // iSCSI stays as it is.
  return /^[a-z][A-Z]/.test(text) ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
