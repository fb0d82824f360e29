/**
 * Collections that tools list on every look at a cluster, and of which this one has nothing: no hardware that could be
 * seen, and no other cluster. They can be read and filtered, and are empty, as on a shipping system that
 * has none of it; nothing can be made. A resource that comes to have records leaves this list for a file of its own.
 */
import { type Behaviour, define } from '../core/behaviour.ts'
import { count, flag, list, text, time, uuid, type Kind } from '../model/kinds/index.ts'
import type { FieldDeclaration } from '../model/resource.ts'

/** The fields of each are words, with a mark where they are no texts: `enabled?`, `size#`, `ciphers[]`, `since@`. */
const KINDS: Readonly<Record<string, () => Kind>> = {
  '?': flag,
  '#': count,
  '@': time,
  '[]': () => list(text()),
}

function empty(path: string, noun: string, doc: string, key: string, fields: string, since?: string): Behaviour {
  const declared = [...new Set([...key.split(' '), ...fields.split(' ')])].map((word): [string, FieldDeclaration] => {
    const [, name = '', mark = ''] = /^([\w.]+)(\W*)$/.exec(word) ?? []
    const kind = name.split('.').at(-1) === 'uuid' ? uuid() : (KINDS[mark]?.() ?? text())
    return [name, { doc: `As on systems that have one: ${name.replaceAll(/[._]/g, ' ')}.`, kind }]
  })
  return define(
    {
      path,
      noun,
      doc: `${doc} There are none here.`,
      key: key.split(' ').map((word) => word.replace(/\W+$/, '')),
      nameWithin: false,
      ...(since === undefined ? {} : { since }),
      fields: Object.fromEntries(declared),
    },
    { rows: () => Promise.resolve([]) },
  )
}

const SVM = 'svm.name svm.uuid'

export const withoutRecords: readonly Behaviour[] = [
  empty(
    '/cloud/targets',
    'cloud target',
    'Object stores that cold data goes to.',
    'uuid',
    'name access_key authentication_type certificate_validation_enabled? container ipspace.name owner port# provider_type scope server ssl_enabled? used#',
  ),
  empty(
    '/cluster/peers',
    'cluster peer',
    'Other clusters that this one works with.',
    'uuid',
    'name encryption.state status.state remote.name remote.ip_addresses[] authentication.state',
  ),
  empty(
    '/cluster/mediators',
    'mediator',
    'What decides between two clusters.',
    'uuid',
    'ip_address port# reachable? type peer_cluster.name peer_cluster.uuid',
    '9.8',
  ),
  empty(
    '/cluster/sensors',
    'sensor',
    'Sensors of fans, voltages and temperatures.',
    'node.uuid index#',
    'node.name name type value# value_units threshold_state discrete_state discrete_value warning_high_threshold# warning_low_threshold# critical_high_threshold# critical_low_threshold#',
    '9.11.1',
  ),
  empty(
    '/network/fc/ports',
    'Fibre Channel port',
    'Ports of Fibre Channel.',
    'uuid',
    'name node.name node.uuid enabled? state physical_protocol supported_protocols[] speed.configured speed.maximum# fabric.connected? fabric.connected_speed# fabric.name fabric.port_address fabric.switch_port',
  ),
  empty(
    '/storage/shelves',
    'shelf',
    'Shelves of disks.',
    'uid',
    'name id serial_number model module_type state manufacturer.name disk_count# connection_type local?',
  ),
  empty(
    '/storage/flexcache/flexcaches',
    'FlexCache',
    'Volumes that cache those of others.',
    'uuid',
    `name ${SVM} size# path`,
  ),
  empty(
    '/svm/peers',
    'SVM peer',
    'SVMs that those of this cluster work with.',
    'uuid',
    `name state ${SVM} peer.svm.name peer.svm.uuid peer.cluster.name peer.cluster.uuid applications[]`,
  ),
  empty(
    '/security/audit/destinations',
    'audit destination',
    'Where requests that change something are told, beside the log here.',
    'address port#',
    'protocol facility verify_server? ipspace.name message_format timestamp_format_override',
  ),
  empty(
    '/security/ssh/svms',
    'SSH server',
    'SSH servers of SVMs, and what they speak.',
    'svm.uuid',
    'svm.name ciphers[] key_exchange_algorithms[] mac_algorithms[] max_authentication_retry_count#',
    '9.10.1',
  ),
  empty(
    '/protocols/audit',
    'audit configuration',
    'How access to files is audited.',
    'svm.uuid',
    'svm.name enabled? log_path',
  ),
]
