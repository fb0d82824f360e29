/** All commands, from the declarations of the resources: none is listed but by another spelling. */
import type { Registry } from '../../model/registry.ts'
import type { Release } from '../../model/release.ts'
import type { Resource } from '../../model/resource.ts'
import { namesOf, wordsOf, type Names } from './names.ts'
import { spellings } from './spelling.ts'

export interface Command {
  readonly words: readonly string[]
  readonly resource: Resource
  readonly names: Names
}

export type CommandTree = ReadonlyMap<string, Command>

/** The commands by their words, with a blank between: `volume snapshot`. */
export function commandTree(registry: Registry, served: Release): CommandTree {
  const tree = new Map<string, Command>()
  const add = (words: readonly string[], resource: Resource, names: Names) => {
    const command = words.join(' ')
    if (!tree.has(command)) tree.set(command, { words, resource, names })
  }
  const byType = new Map(registry.resources.map((resource) => [resource.type, resource]))
  for (const { command, type, names } of spellings) {
    const resource = byType.get(type)
    if (resource === undefined) continue
    const words = command.split(' ')
    add(words, resource, namesOf(resource, thingOf(words), served, names))
  }
  for (const resource of registry.resources) {
    // These are commands already, with a path of their own.
    if (resource.type.startsWith('private/')) continue
    const words = wordsOf(resource)
    add(words, resource, namesOf(resource, thingOf(words), served))
  }
  return tree
}

/** What its command calls one of them: the last word. */
function thingOf(words: readonly string[]): string {
  return words.at(-1) ?? ''
}
