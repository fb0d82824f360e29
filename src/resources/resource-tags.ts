import { type Behaviour, define } from '../core/behaviour.ts'
import type { Cluster } from '../core/cluster.ts'
import { wholeRows } from '../core/read/whole-rows.ts'
import { count, text } from '../model/kinds/index.ts'
import { collectionPath, recordPath } from '../model/paths.ts'
import { resource } from '../model/resource.ts'
import { textOf } from '../model/value.ts'
import { TAGS } from './tags.ts'

const resourceTagsResource = resource({
  path: '/resource-tags',
  noun: 'tag',
  doc: 'Tags of resources of all types.',
  since: '9.13.1',
  key: ['value'],
  recordKey: ['value'],
  nameWithin: false,
  fields: {
    value: { doc: 'The tag as key and value.', kind: text() },
    num_resources: { doc: 'The number of resources with the tag.', kind: count() },
  },
})

export const resourceTags: Behaviour<typeof resourceTagsResource> = define(resourceTagsResource, {
  async rows(cluster) {
    const counts = new Map<string, number>()
    for await (const { tags } of tagged(cluster)) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1)
    return [...counts].map(([value, num_resources]) => ({ value, num_resources }))
  },
})

export interface Tagged {
  readonly href: string
  readonly label: string
  readonly tags: readonly string[]
}

/** Everything that has tags. Of long records a few at a time are in memory. */
export async function* tagged(cluster: Cluster): AsyncGenerator<Tagged, void, void> {
  for (const { resource } of cluster.behaviours.values()) {
    if (!resource.fields.has(TAGS) || resource.rowsOf !== resource.type) continue
    for await (const some of wholeRows(cluster, resource, await cluster.shortRows(resource.rowsOf), [TAGS])) {
      for (const { row } of some) {
        const tags = row[TAGS]
        if (!Array.isArray(tags) || tags.length === 0) continue
        const keys = Object.fromEntries(resource.pathKeys.map((key) => [key, textOf(row[key])]))
        yield {
          href: recordPath(resource, collectionPath(resource, keys), row),
          label: textOf(row['name']),
          tags: tags.map((tag) => textOf(tag)),
        }
      }
    }
  }
}
