import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { EventName } from '../../../core/events.ts'
import { inline } from '../../../core/verb.ts'
import { count, flag, oneOf, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { textOf } from '../../../model/value.ts'

const EVENTS: Readonly<Record<string, EventName>> = {
  emergency: 'app.log.emerg',
  alert: 'app.log.alert',
  error: 'app.log.err',
  notice: 'app.log.notice',
}

const word = (doc: string) => ({ doc, kind: text({ charactersMax: 255 }), set: 'create' }) as const

const applicationLogsResource = resource({
  path: '/support/ems/application-logs',
  noun: 'application log',
  doc: 'Where applications that use the cluster log what they do: it becomes an event. Nothing is kept here.',
  key: ['event_id'],
  nameWithin: false,
  fields: {
    computer_name: word('Where the application runs.'),
    event_source: word('Its name.'),
    app_version: word('Its version.'),
    event_id: { doc: 'A number of its own.', kind: count({ min: 0 }), set: 'create' },
    category: word('What it is about.'),
    event_description: {
      doc: 'What happened.',
      kind: text({ charactersMax: 4096 }),
      set: 'create',
    },
    severity: { doc: 'How bad it is.', kind: oneOf(...Object.keys(EVENTS)), set: 'create', default: 'notice' },
    autosupport_required: {
      doc: 'Whether a report is to be sent. None is.',
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
        await cluster.commit([cluster.event(EVENTS[textOf(severity)] ?? 'app.log.notice', parameters)])
      },
    },
  }),
})
