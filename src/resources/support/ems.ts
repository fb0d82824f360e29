import { type Behaviour, define } from '../../core/behaviour.ts'
import { singletonActs } from '../../core/singleton.ts'
import { flag, secret, text } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { mailAddress, webAddress } from './addresses.ts'

const emsResource = resource({
  path: '/support/ems',
  noun: 'event settings',
  doc: 'How events get to those who are to know of them. Kept; events are not sent yet.',
  key: [],
  recordKey: [],
  nameWithin: false,
  fields: {
    mail_from: {
      doc: 'Whom mails of events are from.',
      kind: mailAddress(),
      set: 'modify',
      default: 'admin@localhost',
    },
    mail_server: {
      doc: 'The host that takes them.',
      kind: text({ charactersMin: 1, charactersMax: 255 }),
      set: 'modify',
      default: 'localhost',
    },
    mail_server_user: {
      doc: 'The user at that host.',
      kind: text({ charactersMax: 255 }),
      set: 'modify',
      default: '',
    },
    mail_server_password: {
      doc: 'The password of that user. It is never shown.',
      kind: secret({ charactersMax: 255 }),
      set: 'modify',
    },
    proxy_url: { doc: 'The proxy by which web servers are reached.', kind: webAddress(), set: 'modify' },
    proxy_user: { doc: 'The user at the proxy.', kind: text({ charactersMax: 255 }), set: 'modify' },
    proxy_password: {
      doc: 'The password of that user. It is never shown.',
      kind: secret({ charactersMax: 255 }),
      set: 'modify',
    },
    pubsub_enabled: {
      doc: 'Whether programs may have themselves be told of events.',
      kind: flag(),
      set: 'modify',
      default: true,
    },
  },
})

export const ems: Behaviour<typeof emsResource> = define(
  emsResource,
  singletonActs('support/ems', { example: { mail_from: 'cluster@example.com', mail_server: 'mail.example.com' } }),
)
