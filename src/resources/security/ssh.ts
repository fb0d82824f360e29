import { type Behaviour, define } from '../../core/behaviour.ts'
import { count, list, text } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'

const NOTHING = ['ciphers', 'key_exchange_algorithms', 'mac_algorithms'] as const
const DOCS: Readonly<Record<(typeof NOTHING)[number], string>> = {
  ciphers: 'The ciphers that the SSH server accepts. Empty, as no SSH server runs.',
  key_exchange_algorithms: 'The key exchanges that the SSH server accepts. Empty, as no SSH server runs.',
  mac_algorithms: 'The message authentication codes that the SSH server accepts. Empty, as no SSH server runs.',
}

const securitySshResource = resource({
  path: '/security/ssh',
  noun: 'SSH settings',
  doc: 'SSH settings of the cluster. No SSH server runs, so the lists are empty.',
  since: '9.7',
  key: [],
  nameWithin: false,
  fields: {
    ...Object.fromEntries(NOTHING.map((path) => [path, { doc: DOCS[path], kind: list(text()) }])),
    max_instances: { doc: 'The maximum number of SSH sessions. Always 0, as no SSH server runs.', kind: count() },
  },
})

export const securitySsh: Behaviour<typeof securitySshResource> = define(securitySshResource, {
  rows: () => Promise.resolve([{ ...Object.fromEntries(NOTHING.map((path) => [path, []])), max_instances: 0 }]),
})
