import { type Behaviour, define } from '../../../core/behaviour.ts'
import { logEntry, logPages } from '../../../core/log-pages.ts'
import { count, oneOf, text, time } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import type { Row } from '../../../model/value.ts'
import type { LogEntry } from '../../../ports/catalog.ts'

const auditMessagesResource = resource({
  path: '/security/audit/messages',
  noun: 'audit message',
  doc: 'Who changed what, when and from where, and what became of it. The newest 10,000 are listed.',
  key: ['index'],
  columns: ['timestamp', 'user', 'input', 'state', 'message', 'location'],
  fields: {
    index: { doc: 'Grows with each message.', kind: count() },
    timestamp: { doc: 'When it was.', kind: time() },
    user: { doc: 'Who it was.', kind: text() },
    location: { doc: 'The address the request came from.', kind: text() },
    input: { doc: 'The request: its method and path.', kind: text() },
    state: { doc: 'How it ended.', kind: oneOf('success', 'error') },
    message: { doc: 'The object concerned, or why it failed.', kind: text() },
  },
})

export const auditMessages: Behaviour<typeof auditMessagesResource> = define(auditMessagesResource, {
  async rows(cluster, { index }) {
    const entry = await logEntry(cluster.catalog, 'audit', Number(index))
    return entry === undefined ? [] : [rowOf(entry)]
  },
  async *rowPages(cluster) {
    for await (const page of logPages(cluster.catalog, 'audit')) yield page.map(rowOf)
  },
})

function rowOf({ id, timeMs, body }: LogEntry): Row {
  return Object.assign({ index: id, timestamp: timeMs }, body as Row)
}
