/** What the command line calls the settings of AutoSupport: those of each node there, of the cluster here. */
import { flag, text } from '../../model/kinds/index.ts'
import type { Spelled } from './names.ts'
import { memberOf, never, type Phrase, sight, whole } from './phrases.ts'

const node: Phrase<never> = {
  from: [],
  kind: text(),
  sees: sight('cluster/nodes', ['name']),
  show: (_at, [first]) => memberOf(first, 'name'),
}

/** `enable` and `disable`, beside yes and no. */
const switched = <const Path extends string>(path: Path): Phrase<Path> => ({
  from: [path],
  kind: flag(),
  show: (at) => at(path),
  read: (given) => ({ [path]: given === 'enable' ? true : given === 'disable' ? false : given }),
})

/** Lists of nothing are left out by the interface, and told by the command line. */
const always = <const Path extends string>(path: Path): Phrase<Path> => ({
  ...whole(path),
  show: (at) => at(path) ?? [],
})

export const AUTOSUPPORT: Spelled<'support/autosupport'> = {
  node,
  state: switched('enabled'),
  support: switched('contact_support'),
  ondemand_state: switched('ondemand_enabled'),
  remove_private_data: 'is_minimal',
  to: always('to'),
  partner_address: always('partner_addresses'),
  mail_hosts: always('mail_hosts'),
  ondemand_server_url: never(),
  noteto: always('note_to'),
  url: 'post_url',
  hostname_subj: 'has_hostname_in_subject',
  nht: 'collects_disk_health',
  perf: 'collects_performance',
  reminder: 'reminds',
  local_collection: 'collects_locally',
  validate_digital_certificate: 'validates_certificates',
}
