import { define } from '../../core/behaviour.ts'
import { flag } from '../../model/kinds/index.ts'

export const autoUpdate = define(
  {
    path: '/support/auto-update',
    noun: 'automatic update',
    doc: 'Whether the cluster fetches newer software by itself. It does not.',
    since: '9.10.1',
    key: [],
    nameWithin: false,
    fields: {
      enabled: { doc: 'Whether it does.', kind: flag() },
    },
  },
  { rows: () => Promise.resolve([{ enabled: false }]) },
)
