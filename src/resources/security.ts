import { type Behaviour, define } from '../core/behaviour.ts'
import { flag } from '../model/kinds/index.ts'
import { groups, resource } from '../model/resource.ts'

/** What can be said of all of it, as there is no way to have it otherwise. */
const OFF = {
  'fips.enabled': 'Whether only cryptography approved by FIPS 140 is allowed. Always false.',
  'management_protocols.rsh_enabled': 'Whether RSH logins are possible. Always false.',
  'management_protocols.telnet_enabled': 'Whether Telnet logins are possible. Always false.',
  'software_data_encryption.encryption_state_enabled': 'Whether data is encrypted. Always false: encrypt the disks.',
} as const

const securityResource = resource({
  path: '/security',
  noun: 'security settings',
  doc: 'Security settings of the whole cluster. None of them can be turned on.',
  since: '9.7',
  key: [],
  nameWithin: false,
  fields: {
    ...groups({
      fips: 'FIPS 140 mode.',
      management_protocols: 'Unencrypted management protocols.',
      software_data_encryption: 'Encryption of data by software.',
    }),
    ...Object.fromEntries(
      Object.entries(OFF).map(([path, doc]) => [
        path,
        { doc, kind: flag(), ...(path === 'fips.enabled' ? { since: '9.8' } : {}) },
      ]),
    ),
  },
})

export const security: Behaviour<typeof securityResource> = define(securityResource, {
  rows: () => Promise.resolve([Object.fromEntries(Object.keys(OFF).map((path) => [path, false]))]),
})
