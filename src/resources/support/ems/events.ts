import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import type { EventEntry } from '../../../model/events/entry.ts'
import { listEvents } from '../../../core/tables.ts'
import { logEntry, logPages } from '../../../core/read/log-pages.ts'
import { count, each, oneOf, text, time, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { type Row, textOf } from '../../../model/value.ts'
import type { LogEntry } from '../../../ports/catalog.ts'

const eventsResource = resource({
  path: '/support/ems/events',
  noun: 'event',
  doc: 'Events of the cluster. The newest 10,000 events are listed.',
  key: ['index'],
  columns: ['time', 'message.severity', 'log_message', 'message.name', 'node.name'],
  fields: {
    index: { doc: 'The index of the event. Later events have a higher index.', kind: count() },
    time: { doc: 'When the event happened.', kind: time() },
    node: { doc: 'The node that logged the event.', isGroup: true },
    'node.name': { doc: 'The name of the node that logged the event.', kind: text() },
    'node.uuid': { doc: 'The UUID of the node that logged the event.', kind: uuid() },
    source: { doc: 'The part of the cluster that logged the event: the first word of the event name.', kind: text() },
    message: { doc: 'The kind of the event.', isGroup: true },
    'message.name': { doc: 'The name of the event.', kind: text() },
    'message.severity': {
      doc: 'The severity of the event.',
      kind: oneOf({
        emergency: 'The cluster is down.',
        alert: 'Immediate action is required.',
        error: 'Something failed.',
        notice: 'A condition needs attention.',
        informational: 'Normal operation.',
        debug: 'Details for developers.',
      }),
    },
    log_message: { doc: 'A sentence that says what happened.', kind: text() },
    parameters: {
      doc: 'The parameters of the event.',
      kind: each({
        name: { kind: text(), doc: 'The name of the parameter.' },
        value: { kind: text(), doc: 'The value of the parameter.' },
      }),
    },
  },
})

export const events: Behaviour<typeof eventsResource> = define(eventsResource, {
  async rows(cluster, { index }) {
    const [node] = await cluster.rows('cluster/nodes')
    const entry = await logEntry(cluster.catalog, 'events', Number(index))
    return entry === undefined ? [] : [rowOf(entry, node, kindsOf(cluster))]
  },
  async *rowPages(cluster) {
    const [node] = await cluster.rows('cluster/nodes')
    const kinds = kindsOf(cluster)
    for await (const page of logPages(cluster.catalog, 'events')) yield page.map((entry) => rowOf(entry, node, kinds))
  },
})

type Kinds = ReadonlyMap<string, EventEntry>

function kindsOf(cluster: Cluster): Kinds {
  return new Map(listEvents(cluster.behaviours.values()))
}

function rowOf({ id, timeMs, body }: LogEntry, node: Row | undefined, kinds: Kinds): Row {
  const { name, ...parameters } = body as Row
  const event = kinds.get(textOf(name))
  return {
    index: id,
    time: timeMs,
    'node.name': node?.['name'] ?? null,
    'node.uuid': node?.['uuid'] ?? null,
    source: textOf(name).split('.', 1)[0] ?? '',
    'message.name': name ?? '',
    'message.severity': event?.severity ?? 'notice',
    log_message: `${textOf(name)}: ${event?.message ?? ''}`,
    parameters: Object.entries(parameters).map(([parameter, value]) => ({ name: parameter, value: textOf(value) })),
  }
}
