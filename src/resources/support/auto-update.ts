import { type Behaviour, define } from '../../core/behaviour.ts'
import { flag } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'

const autoUpdateResource = resource({
  path: '/support/auto-update',
  noun: 'automatic update',
  doc: 'Whether the cluster fetches newer software by itself. It does not.',
  since: '9.10.1',
  key: [],
  nameWithin: false,
  fields: {
    enabled: { doc: 'Whether it does.', kind: flag() },
  },
})

export const autoUpdate: Behaviour<typeof autoUpdateResource> = define(autoUpdateResource, {
  rows: () => Promise.resolve([{ enabled: false }]),
})
