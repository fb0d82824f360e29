import { type Behaviour, define } from '../../core/behaviour.ts'
import { singletonActs } from '../../core/singleton.ts'
import { bytes, count, flag, list, oneOf } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { hostAddress, mailAddress, webAddress } from './addresses.ts'

/** Addresses in one list, as the documentation of the interface has it. */
const ADDRESSES_MAX = 5

const wish = (doc: string, byDefault: boolean) => ({ doc, kind: flag(), set: 'modify', default: byDefault }) as const

const autosupportResource = resource({
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
    note_to: {
      doc: 'Who of your own gets a short note.',
      kind: list(mailAddress(), { elementsMax: ADDRESSES_MAX }),
      set: 'modify',
    },
    post_url: { doc: 'The web server that takes them.', kind: webAddress(), set: 'modify' },
    retry_count: { doc: 'How often one is tried.', kind: count({ min: 5, max: 4096 }), set: 'modify', default: 15 },
    max_http_size: { doc: 'The largest that goes by the web. 0: any.', kind: bytes(), set: 'modify', default: 0 },
    max_smtp_size: {
      doc: 'The largest that goes by mail. 0: any.',
      kind: bytes(),
      set: 'modify',
      default: 5_242_880,
    },
    has_hostname_in_subject: wish('Whether the subject of mails names the host.', false),
    collects_disk_health: wish('Whether they are to tell of the health of disks.', true),
    collects_performance: wish('Whether they are to tell how fast the cluster is.', true),
    collects_locally: wish('Whether they are to be kept where nobody gets them.', true),
    reminds: wish('Whether somebody is to be reminded where they are not wanted.', true),
    validates_certificates: wish('Whether certificates of web servers are to be checked.', true),
    smtp_encryption: {
      doc: 'How mails are hidden on their way.',
      kind: oneOf('none', 'start_tls'),
      set: 'modify',
      default: 'none',
    },
  },
})

export const autosupport: Behaviour<typeof autosupportResource> = define(
  autosupportResource,
  singletonActs('support/autosupport', {
    example: { from: 'cluster@example.com' },
    args: { force: 'Taken for tools that send it. Settings are not tried in any case.' },
  }),
)
