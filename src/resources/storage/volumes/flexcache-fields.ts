import { count, oneOf, time } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'

/** What a FlexCache counts. No volume is one, so none of it is ever set; tools filter by the time to find them. */
export const flexcacheFields = {
  'statistics.flexcache_raw.timestamp': {
    doc: 'When the counters of the FlexCache were read. Not set, as no volume is a FlexCache.',
    kind: time(),
    isExpensive: true,
    since: '9.8',
  },
  'statistics.flexcache_raw.status': {
    doc: 'Whether the counters of the FlexCache are whole. Not set, as no volume is a FlexCache.',
    kind: oneOf({ ok: 'The counters are complete.' }),
    isExpensive: true,
    since: '9.8',
  },
  'statistics.flexcache_raw.client_requested_blocks': {
    doc: 'Blocks that clients asked the FlexCache for. Not set, as no volume is a FlexCache.',
    kind: count(),
    isExpensive: true,
    since: '9.8',
  },
  'statistics.flexcache_raw.cache_miss_blocks': {
    doc: 'Blocks that the FlexCache had to fetch from its origin. Not set, as no volume is a FlexCache.',
    kind: count(),
    isExpensive: true,
    since: '9.8',
  },
} as const satisfies Fields
