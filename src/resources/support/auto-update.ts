import { type Behaviour, define } from '../../core/behaviour.ts'
import { flag } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'

const autoUpdateResource = resource({
  path: '/support/auto-update',
  noun: 'automatic update',
  doc: 'Automatic software updates. The cluster does not update itself.',
  since: '9.10.1',
  key: [],
  nameWithin: false,
  fields: {
    enabled: { doc: 'Whether automatic updates are enabled. Always false.', kind: flag() },
  },
})

export const autoUpdate: Behaviour<typeof autoUpdateResource> = define(autoUpdateResource, {
  rows: () => Promise.resolve([{ enabled: false }]),
})
