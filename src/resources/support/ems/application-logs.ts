import { type Behaviour, define } from '../../../core/behaviour.ts'
import { ownEvents } from '../../../model/events/index.ts'
import { inline } from '../../../core/verb.ts'
import { count, flag, oneOf, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { textOf } from '../../../model/value.ts'

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

/** What an application says of an event. */
const said = {
  computer_name: 'text?',
  event_source: 'text?',
  app_version: 'text?',
  event_id: 'text?',
  category: 'text?',
  event_description: 'text?',
} as const

const events = ownEvents({
  'app.log.emerg': {
    severity: 'emergency',
    message: 'An application reported an emergency.',
    action: 'Look at the application that logged it.',
    parameters: said,
    trap: 500,
  },
  'app.log.alert': {
    severity: 'alert',
    message: 'An application reported an alert.',
    action: 'Look at the application that logged it.',
    parameters: said,
    trap: 501,
  },
  'app.log.err': {
    severity: 'error',
    message: 'An application reported an error.',
    action: 'Look at the application that logged it.',
    parameters: said,
    trap: 502,
  },
  'app.log.notice': {
    severity: 'notice',
    message: 'An application reported a notice.',
    action: 'None.',
    parameters: said,
    trap: 503,
  },
})

export const applicationLogs: Behaviour<typeof applicationLogsResource> = define(applicationLogsResource, {
  events,
  rows: () => Promise.resolve([]),
  create: inline({
    example: { computer_name: 'host1', event_source: 'backup', event_description: 'A backup has ended.' },
    plan: (_cluster, { draft }) => Promise.resolve({ key: textOf(draft['event_id']), input: { ...draft } }),
    step: {
      name: 'write event',
      async run(cluster, { input }) {
        const { severity, autosupport_required: _report, ...said } = input
        const parameters = Object.fromEntries(Object.entries(said).map(([name, value]) => [name, textOf(value)]))
        const event = Object.values(events).find((one) => one.severity === severity) ?? events['app.log.notice']
        await cluster.commit([cluster.event(event, parameters)])
      },
    },
  }),
})
