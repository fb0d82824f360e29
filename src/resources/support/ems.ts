import { type Behaviour, define } from '../../core/behaviour.ts'
import { singletonActs } from '../../core/singleton.ts'
import { flag, secret, text } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { mailAddress, webAddress } from './addresses.ts'

const emsResource = resource({
  path: '/support/ems',
  noun: 'event settings',
  doc: 'Settings for sending events. Stored without effect: events are not sent yet.',
  key: [],
  recordKey: [],
  nameWithin: false,
  fields: {
    mail_from: {
      doc: 'The sender address of event e-mails.',
      kind: mailAddress(),
      set: 'modify',
      default: 'admin@localhost',
    },
    mail_server: {
      doc: 'The SMTP host for event e-mails.',
      kind: text({ charactersMin: 1, charactersMax: 255 }),
      set: 'modify',
      default: 'localhost',
    },
    mail_server_user: {
      doc: 'The user at the SMTP host.',
      kind: text({ charactersMax: 255 }),
      set: 'modify',
      default: '',
    },
    mail_server_password: {
      doc: 'The password of the user at the SMTP host. Never shown.',
      kind: secret({ charactersMax: 255 }),
      set: 'modify',
    },
    proxy_url: { doc: 'The URL of the proxy to web servers.', kind: webAddress(), set: 'modify' },
    proxy_user: { doc: 'The user at the proxy.', kind: text({ charactersMax: 255 }), set: 'modify' },
    proxy_password: {
      doc: 'The password of the user at the proxy. Never shown.',
      kind: secret({ charactersMax: 255 }),
      set: 'modify',
    },
    pubsub_enabled: {
      doc: 'Whether programs can subscribe to events.',
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
