/** Tags: words that administrators give to things of all types, such as `team:storage`, to find them again. */
import { list, Misfit, text, type Kind } from '../model/kinds/index.ts'
import type { Value } from '../model/value.ts'

export const TAGS = '_tags'
/** Tags of one thing at most. */
export const TAGS_MAX = 50

const each = list(
  text({
    charactersMax: 256,
    pattern: /^[^:\s][^:]*:[^:]+$/,
    patternDoc: 'a key and a value with ":" between them, such as "team:storage"',
  }),
)

/** Of one thing: each once. */
export const tagsKind: Kind = {
  ...each,
  parse(value): Value {
    const tags = [...new Set(each.parse(value))]
    if (tags.length > TAGS_MAX) throw new Misfit(`It has more than ${TAGS_MAX} tags.`, 'tooManyTags')
    return tags
  },
}

export const tagFields = {
  [TAGS]: {
    doc: 'The tags of the resource, each a key and a value such as `team:storage`.',
    kind: tagsKind,
    set: 'always',
    since: '9.13.1',
  },
} as const
