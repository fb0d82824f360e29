import { define } from '../../../core/behaviour.ts'
import { count, oneOf, text, time } from '../../../model/kinds/index.ts'
import type { Row } from '../../../model/value.ts'

/** Newest entries that one request looks through. */
const LOOKED_AT_MAX = 10_000

export const auditMessages = define(
  {
    path: '/security/audit/messages',
    noun: 'audit message',
    doc: 'Who changed what, when and from where, and what became of it. The newest 10,000 can be read.',
    key: ['index'],
    fields: {
      index: { doc: 'Grows with each message.', kind: count() },
      timestamp: { doc: 'When it was.', kind: time() },
      user: { doc: 'Who it was.', kind: text() },
      location: { doc: 'The address the request came from.', kind: text() },
      input: { doc: 'The request: its method and path.', kind: text() },
      state: { doc: 'How it ended.', kind: oneOf('success', 'error') },
      message: { doc: 'The object concerned, or why it failed.', kind: text() },
    },
  },
  {
    async rows(cluster) {
      const entries = await cluster.catalog.log('audit', { limit: LOOKED_AT_MAX })
      return entries.map(({ id, timeMs, body }): Row => Object.assign({ index: id, timestamp: timeMs }, body as Row))
    },
  },
)
