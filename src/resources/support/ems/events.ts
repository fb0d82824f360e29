import { type Behaviour, define } from '../../../core/behaviour.ts'
import { events as declared, type EventName } from '../../../core/events.ts'
import { logEntry, logPages } from '../../../core/log-pages.ts'
import { count, each, oneOf, text, time, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { type Row, textOf } from '../../../model/value.ts'
import type { LogEntry } from '../../../ports/catalog.ts'

const eventsResource = resource({
  path: '/support/ems/events',
  noun: 'event',
  doc: 'What happened in the cluster. The newest 10,000 are listed.',
  key: ['index'],
  columns: ['time', 'message.severity', 'log_message', 'message.name', 'node.name'],
  fields: {
    index: { doc: 'Grows with each event.', kind: count() },
    time: { doc: 'When it was.', kind: time() },
    node: { doc: 'The node that logged the event.', isGroup: true },
    'node.name': { doc: 'Where it was.', kind: text() },
    'node.uuid': { doc: 'The UUID of that node.', kind: uuid() },
    source: { doc: 'The part of the cluster that logged it: the first word of its name.', kind: text() },
    message: { doc: 'The kind of the event.', isGroup: true },
    'message.name': { doc: 'Which event it is.', kind: text() },
    'message.severity': {
      doc: 'How bad it is.',
      kind: oneOf('emergency', 'alert', 'error', 'notice', 'informational', 'debug'),
    },
    log_message: { doc: 'What happened, as a sentence.', kind: text() },
    parameters: {
      doc: 'The particulars.',
      kind: each({ name: { kind: text(), doc: 'Which.' }, value: { kind: text(), doc: 'Its value.' } }),
    },
  },
})

export const events: Behaviour<typeof eventsResource> = define(eventsResource, {
  async rows(cluster, { index }) {
    const [node] = await cluster.rows('cluster/nodes')
    const entry = await logEntry(cluster.catalog, 'events', Number(index))
    return entry === undefined ? [] : [rowOf(entry, node)]
  },
  async *rowPages(cluster) {
    const [node] = await cluster.rows('cluster/nodes')
    for await (const page of logPages(cluster.catalog, 'events')) yield page.map((entry) => rowOf(entry, node))
  },
})

function rowOf({ id, timeMs, body }: LogEntry, node: Row | undefined): Row {
  const { name, ...parameters } = body as Row
  const event = declared[name as EventName]
  return {
    index: id,
    time: timeMs,
    'node.name': node?.['name'] ?? null,
    'node.uuid': node?.['uuid'] ?? null,
    source: textOf(name).split('.', 1)[0] ?? '',
    'message.name': name ?? '',
    'message.severity': event?.severity ?? 'notice',
    log_message: `${textOf(name)}: ${event?.text ?? ''}`,
    parameters: Object.entries(parameters).map(([parameter, value]) => ({ name: parameter, value: textOf(value) })),
  }
}
