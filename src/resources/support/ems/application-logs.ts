import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { EventName } from '../../../model/events/index.ts'
import { inline } from '../../../core/verb.ts'
import { count, flag, oneOf, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { textOf } from '../../../model/value.ts'

const EVENTS = {
  emergency: 'app.log.emerg',
  alert: 'app.log.alert',
  error: 'app.log.err',
  notice: 'app.log.notice',
} as const satisfies Readonly<Record<string, EventName>>

const word = (doc: string) => ({ doc, kind: text({ charactersMax: 255 }), set: 'create' }) as const

const applicationLogsResource = resource({
  path: '/support/ems/application-logs',
  noun: 'application log',
  doc: 'Log messages from applications that use the cluster. Each message becomes an event; nothing else is stored.',
  key: ['event_id'],
  nameWithin: false,
  fields: {
    computer_name: word('The name of the host of the application.'),
    event_source: word('The name of the application.'),
    app_version: word('The version of the application.'),
    event_id: { doc: 'The ID of the message, chosen by the application.', kind: count({ min: 0 }), set: 'create' },
    category: word('The category of the message.'),
    event_description: {
      doc: 'A sentence that says what happened.',
      kind: text({ charactersMax: 4096 }),
      set: 'create',
    },
    severity: {
      doc: 'The severity of the message.',
      kind: oneOf({
        emergency: 'The application is down.',
        alert: 'Immediate action is required.',
        error: 'Something failed.',
        notice: 'A condition needs attention.',
      }),
      set: 'create',
      default: 'notice',
    },
    autosupport_required: {
      doc: 'Whether to send a report to the vendor. Accepted without effect.',
      kind: flag(),
      set: 'create',
      default: false,
    },
  },
})

export const applicationLogs: Behaviour<typeof applicationLogsResource> = define(applicationLogsResource, {
  rows: () => Promise.resolve([]),
  create: inline({
    example: { computer_name: 'host1', event_source: 'backup', event_description: 'A backup has ended.' },
    plan: (_cluster, { draft }) => Promise.resolve({ key: textOf(draft['event_id']), input: { ...draft } }),
    step: {
      name: 'write event',
      async run(cluster, { input }) {
        const { severity, autosupport_required: _report, ...said } = input
        const parameters = Object.fromEntries(Object.entries(said).map(([name, value]) => [name, textOf(value)]))
        await cluster.commit([
          cluster.event(EVENTS[textOf(severity) as keyof typeof EVENTS] ?? 'app.log.notice', parameters),
        ])
      },
    },
  }),
})
