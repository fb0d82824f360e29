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
  doc: 'Settings of reports about the cluster. Stored without effect: nothing is collected, and nothing is sent.',
  key: [],
  recordKey: [],
  nameWithin: false,
  fields: {
    enabled: {
      doc: 'Whether reports are enabled. Stored without effect.',
      kind: flag(),
      set: 'modify',
      default: false,
    },
    contact_support: { doc: 'Whether the vendor receives reports.', kind: flag(), set: 'modify', default: false },
    is_minimal: { doc: 'Whether reports leave out names and addresses.', kind: flag(), set: 'modify', default: true },
    ondemand_enabled: {
      doc: 'Whether the vendor can request reports.',
      kind: flag(),
      set: 'modify',
      default: false,
    },
    transport: {
      doc: 'The transport of reports.',
      kind: oneOf({ smtp: 'E-mail.', https: 'HTTP with TLS.', http: 'HTTP without TLS.' }),
      set: 'modify',
      default: 'https',
    },
    from: { doc: 'The sender address of report e-mails.', kind: mailAddress(), set: 'modify' },
    to: {
      doc: 'The e-mail addresses in the organization that receive reports.',
      kind: list(mailAddress(), { elementsMax: ADDRESSES_MAX }),
      set: 'modify',
    },
    partner_addresses: {
      doc: 'The e-mail addresses of partners that receive reports.',
      kind: list(mailAddress(), { elementsMax: ADDRESSES_MAX }),
      set: 'modify',
    },
    mail_hosts: {
      doc: 'The SMTP hosts for report e-mails.',
      kind: list(hostAddress(), { elementsMax: ADDRESSES_MAX }),
      set: 'modify',
    },
    proxy_url: { doc: 'The URL of the proxy to web servers.', kind: webAddress(), set: 'modify' },
    note_to: {
      doc: 'The e-mail addresses that receive a short version of reports.',
      kind: list(mailAddress(), { elementsMax: ADDRESSES_MAX }),
      set: 'modify',
    },
    post_url: { doc: 'The URL to which reports are sent.', kind: webAddress(), set: 'modify' },
    retry_count: {
      doc: 'The number of retries of a failed delivery.',
      kind: count({ min: 5, max: 4096 }),
      set: 'modify',
      default: 15,
    },
    max_http_size: {
      doc: 'The maximum size of a report over HTTP in bytes. 0: no limit.',
      kind: bytes(),
      set: 'modify',
      default: 0,
    },
    max_smtp_size: {
      doc: 'The maximum size of a report by e-mail in bytes. 0: no limit.',
      kind: bytes(),
      set: 'modify',
      default: 5_242_880,
    },
    has_hostname_in_subject: wish('Whether the subject of e-mails contains the host name.', false),
    collects_disk_health: wish('Whether reports include the health of disks.', true),
    collects_performance: wish('Whether reports include performance data.', true),
    collects_locally: wish('Whether reports are stored locally if sending is disabled.', true),
    reminds: wish('Whether administrators are reminded if reports are disabled.', true),
    validates_certificates: wish('Whether certificates of web servers are verified.', true),
    smtp_encryption: {
      doc: 'The encryption of report e-mails.',
      kind: oneOf({ none: 'No encryption.', start_tls: 'STARTTLS.' }),
      set: 'modify',
      default: 'none',
    },
  },
})

export const autosupport: Behaviour<typeof autosupportResource> = define(
  autosupportResource,
  singletonActs('support/autosupport', {
    example: { from: 'cluster@example.com' },
    args: {
      force: {
        doc: 'Whether to skip the test of the settings. Accepted without effect: settings are never tested.',
        kind: flag(),
      },
    },
  }),
)
