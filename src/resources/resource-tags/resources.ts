import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { recordKey, resource } from '../../model/resource.ts'
import { valuesAt } from '../../model/values-at.ts'
import { findInstance } from '../../core/read/read.ts'
import { inline } from '../../core/verb.ts'
import { Failure, failure } from '../../model/failure.ts'
import { Misfit, text } from '../../model/kinds/index.ts'
import type { Resource } from '../../model/resource.ts'
import type { SomeType } from '../../model/rows.ts'
import { type Row, textOf } from '../../model/value.ts'
import { CommitRefused } from '../../ports/catalog.ts'
import { tagged } from '../resource-tags.ts'
import { tagsKind, TAGS, TAGS_MAX } from '../tags.ts'

const HREF_CHARACTERS_MAX = 2048
/** Others may change what is tagged at the same time. */
const TRIES_MAX = 20

const taggedResourcesResource = resource({
  path: '/resource-tags/{resource_tag.value}/resources',
  noun: 'resource with the tag',
  doc: 'Resources with a tag. POST adds the tag to a resource, and DELETE removes it.',
  since: '9.13.1',
  // The tags are fields of the things themselves.
  isContent: true,
  key: ['href'],
  recordKey: ['href'],
  nameWithin: false,
  fields: {
    resource_tag: { doc: 'The tag that the resource has.', isGroup: true },
    'resource_tag.value': { doc: 'The tag as key and value.', kind: text() },
    href: {
      doc: 'The path of the resource.',
      kind: text({ charactersMin: 1, charactersMax: HREF_CHARACTERS_MAX }),
      set: 'create',
      required: true,
    },
    label: { doc: 'The name of the resource.', kind: text() },
  },
})

export const taggedResources: Behaviour<typeof taggedResourcesResource> = define(taggedResourcesResource, {
  async rows(cluster, path) {
    const value = path['resource_tag.value'] ?? ''
    const rows: Row[] = []
    for await (const { href, label, tags } of tagged(cluster)) {
      if (tags.includes(value)) rows.push({ 'resource_tag.value': value, href, label })
    }
    return rows
  },
  create: inline({
    example: { href: '/api/cluster' },
    async plan(cluster, { draft, path }) {
      const tag = asTag(path['resource_tag.value'] ?? '')
      const href = draft['href']
      const { type, key } = await thingAt(cluster, href)
      const tags = tagsOf(await cluster.row(type, key))
      if (tags.includes(tag)) throw failure('tagTaken', { tag, href })
      return { key: href, input: { type, key, tag } }
    },
    step: {
      name: 'write record',
      run: (cluster, { input }) => changeTags(cluster, input, (tags, tag) => [...tags, tag]),
    },
  }),
  remove: inline({
    async plan(cluster, { row }) {
      const href = row['href']
      const { type, key } = await thingAt(cluster, href)
      return { key: href, input: { type, key, tag: row['resource_tag.value'] ?? '' } }
    },
    step: {
      name: 'write record',
      run: (cluster, { input }) => changeTags(cluster, input, (tags, tag) => tags.filter((other) => other !== tag)),
    },
  }),
})

function asTag(value: string): string {
  try {
    tagsKind.parse([value])
    return value
  } catch (misfit) {
    if (misfit instanceof Misfit) {
      throw failure(misfit.failure ?? 'fieldInvalid', { field: 'resource_tag.value', problem: misfit.message })
    }
    throw misfit
  }
}

function tagsOf(row: Row): readonly string[] {
  return valuesAt(row, TAGS).map(textOf)
}

/** What a path leads to: something that is there, and can have tags. */
async function thingAt(cluster: Cluster, href: string): Promise<{ type: SomeType; key: string }> {
  const [, rest = ''] = /^\/?api\/(.+?)\/?$/.exec(href) ?? []
  const match = cluster.registry.match(rest.split('/').map((word) => decoded(word)))
  const isOne = match !== undefined && (match.resource.isSingleton || match.instance.length > 0)
  if (!isOne || !mayHaveTags(match.resource)) {
    throw failure('tagTargetUnfit')
  }
  const behaviour = cluster.behaviour(match.resource.type)
  const row = match.resource.isSingleton
    ? (await cluster.rows(match.resource.rowsOf))[0]
    : await findInstance(cluster, behaviour, match.pathValues, match.instance)
  if (row === undefined) throw failure('tagTargetMissing')
  return { type: match.resource.rowsOf, key: recordKey(match.resource, row) }
}

function mayHaveTags({ fields }: Resource): boolean {
  return fields.get(TAGS)?.set === 'always'
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    throw failure('tagTargetEscape')
  }
}

async function changeTags(
  cluster: Cluster,
  { type, key, tag }: { readonly type: string; readonly key: string; readonly tag: string },
  change: (tags: readonly string[], tag: string) => readonly string[],
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const record = await cluster.catalog.record(type, key)
    if (record === undefined)
      throw failure('recordNotFound', { noun: cluster.registry.resource(type).noun }, { target: 'href' })
    const tags = change(tagsOf(record.body), tag)
    if (tags.length > TAGS_MAX) {
      throw failure('tooManyTags', { field: TAGS, problem: `It has more than ${TAGS_MAX} tags.` })
    }
    try {
      await cluster.commit([
        cluster.put(
          cluster.registry.resource(type).type,
          { ...record.body, [TAGS]: [...new Set(tags)] },
          { expect: record.revision },
        ),
      ])
      return
    } catch (failure) {
      const cause = failure instanceof Failure ? failure.cause : failure
      if (!(cause instanceof CommitRefused && cause.reason === 'stale') || tries >= TRIES_MAX) throw failure
    }
  }
}
