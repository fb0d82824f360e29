import { type Behaviour, define } from '../../../core/behaviour.ts'
import { logEntry, logPages } from '../../../core/read/log-pages.ts'
import { count, oneOf, text, time } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import type { Row } from '../../../model/value.ts'
import type { LogEntry } from '../../../ports/catalog.ts'

const auditMessagesResource = resource({
  path: '/security/audit/messages',
  noun: 'audit message',
  doc: 'The audit log of requests that change something. The newest 10,000 messages are listed.',
  key: ['index'],
  columns: ['timestamp', 'user', 'input', 'state', 'message', 'location'],
  fields: {
    index: { doc: 'The index of the message. Later messages have a higher index.', kind: count() },
    timestamp: { doc: 'When the audited request arrived.', kind: time() },
    user: { doc: 'The user who sent the audited request.', kind: text() },
    location: { doc: 'The address that the audited request came from.', kind: text() },
    input: { doc: 'The method and the path of the audited request.', kind: text() },
    state: {
      doc: 'The result of the audited request.',
      kind: oneOf({ success: 'The request succeeded.', error: 'The request failed.' }),
    },
    message: { doc: 'The object of the audited request, or why the request failed.', kind: text() },
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
