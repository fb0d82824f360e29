import { define } from '../../core/behaviour.ts'
import { text } from '../../model/kinds/index.ts'
import type { Row } from '../../model/value.ts'
import { tagged } from '../resource-tags.ts'

export const taggedResources = define(
  {
    path: '/resource-tags/{resource_tag.value}/resources',
    noun: 'resource with the tag',
    doc: 'The things that have a tag.',
    since: '9.13.1',
    key: ['href'],
    recordKey: ['href'],
    nameWithin: false,
    fields: {
      'resource_tag.value': { doc: 'The tag.', kind: text() },
      href: { doc: 'The path of the thing.', kind: text() },
      label: { doc: 'The name of the thing.', kind: text() },
    },
  },
  {
    async rows(cluster, path) {
      const value = path['resource_tag.value'] ?? ''
      return (await tagged(cluster))
        .filter(({ tags }) => tags.includes(value))
        .map(({ href, label }): Row => ({ 'resource_tag.value': value, href, label }))
    },
  },
)
