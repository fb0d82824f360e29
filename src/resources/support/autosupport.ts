import { define } from '../../core/behaviour.ts'
import { singletonActs } from '../../core/singleton.ts'
import { flag, list, oneOf } from '../../model/kinds/index.ts'
import { hostAddress, mailAddress, webAddress } from './addresses.ts'

/** Addresses in one list, as the documentation of the interface has it. */
const ADDRESSES_MAX = 5

export const autosupport = define(
  {
    path: '/support/autosupport',
    noun: 'AutoSupport settings',
    doc: 'Whom reports about the cluster are for. Kept for tools that set it up: nothing is collected, and nothing is sent.',
    key: [],
    recordKey: [],
    nameWithin: false,
    fields: {
      enabled: { doc: 'Whether reports are wanted. None is made.', kind: flag(), set: 'modify', default: false },
      contact_support: { doc: 'Whether the vendor is to get them.', kind: flag(), set: 'modify', default: false },
      is_minimal: { doc: 'Whether names and addresses are left out.', kind: flag(), set: 'modify', default: true },
      ondemand_enabled: {
        doc: 'Whether the vendor may ask for them.',
        kind: flag(),
        set: 'modify',
        default: false,
      },
      transport: { doc: 'By what they go.', kind: oneOf('smtp', 'https', 'http'), set: 'modify', default: 'https' },
      from: { doc: 'Whom mails are from.', kind: mailAddress(), set: 'modify' },
      to: {
        doc: 'Who of your own gets them.',
        kind: list(mailAddress(), { elementsMax: ADDRESSES_MAX }),
        set: 'modify',
      },
      partner_addresses: {
        doc: 'Who of a partner gets them.',
        kind: list(mailAddress(), { elementsMax: ADDRESSES_MAX }),
        set: 'modify',
      },
      mail_hosts: {
        doc: 'The hosts that take mails.',
        kind: list(hostAddress(), { elementsMax: ADDRESSES_MAX }),
        set: 'modify',
      },
      proxy_url: { doc: 'The proxy by which web servers are reached.', kind: webAddress(), set: 'modify' },
      smtp_encryption: {
        doc: 'How mails are hidden on their way.',
        kind: oneOf('none', 'start_tls'),
        set: 'modify',
        default: 'none',
      },
    },
  },
  singletonActs('support/autosupport'),
)
