import { type Behaviour, define } from '../../../core/behaviour.ts'
import { flag, text, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'

const cloudStoresResource = resource({
  path: '/storage/aggregates/{aggregate.uuid}/cloud-stores',
  noun: 'cloud store of an aggregate',
  doc: 'Cloud stores for the cold data of an aggregate. The product has no cloud tier, so the collection is empty.',
  key: ['target.uuid'],
  recordKey: ['target.uuid'],
  nameWithin: false,
  fields: {
    aggregate: { doc: 'The aggregate of the cloud store.', ref: 'storage/aggregates' },
    target: { doc: 'The cloud target of the store.', isGroup: true },
    'target.uuid': { doc: 'The UUID of the cloud store.', kind: uuid() },
    'target.name': { doc: 'The name of the cloud store.', kind: text() },
    primary: { doc: 'Whether the aggregate writes to the cloud store.', kind: flag() },
  },
})

export const cloudStores: Behaviour<typeof cloudStoresResource> = define(cloudStoresResource, {
  rows: () => Promise.resolve([]),
})
