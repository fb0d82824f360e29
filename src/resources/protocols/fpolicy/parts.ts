/** Records of one resource as they stand in a list of another: with all their fields, but not what they belong to. */
import { each, group, type Kind } from '../../../model/kinds/index.ts'
import type { Member } from '../../../model/kinds/kind.ts'
import type { Resource } from '../../../model/resource.ts'
import type { Row, Value } from '../../../model/value.ts'

interface Tree {
  [word: string]: Tree | Member
}

/** The kind of a list of such records. */
export function partsKind(resource: Resource): Kind {
  const tree: Tree = {}
  for (const [path, { kind, doc }] of resource.fields) {
    if (kind.isSecret !== true && !path.startsWith('svm.')) plant(tree, path.split('.'), { kind, doc, readOnly: true })
  }
  return each(membersOf(tree, resource.noun))
}

/** A record as an element of such a list. */
export function partOf(row: Row): Value {
  const nested: Record<string, Value> = {}
  for (const [path, value] of Object.entries(row)) {
    if (path.includes('$')) continue
    const words = path.split('.')
    let at = nested
    for (const word of words.slice(0, -1)) at = (at[word] ??= {}) as Record<string, Value>
    at[words.at(-1) ?? ''] = value
  }
  return nested
}

function plant(tree: Tree, [word = '', ...rest]: readonly string[], member: Member): void {
  if (rest.length === 0) tree[word] = member
  else plant((tree[word] ??= {}) as Tree, rest, member)
}

function membersOf(tree: Tree, owner: string): Record<string, Member> {
  return Object.fromEntries(
    Object.entries(tree).map(([word, node]): [string, Member] => [
      word,
      isMember(node)
        ? node
        : {
            kind: group(membersOf(node, owner)),
            doc: `The ${word.replaceAll('_', ' ')} of the ${owner}.`,
            readOnly: true,
          },
    ]),
  )
}

function isMember(node: Tree | Member): node is Member {
  return typeof node['doc'] === 'string'
}
