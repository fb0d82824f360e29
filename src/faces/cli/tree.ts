/** All commands, from the declarations of the resources: none is listed but by another spelling. */
import type { Registry } from '../../model/registry.ts'
import type { Release } from '../../model/release.ts'
import type { Resource } from '../../model/resource.ts'
import { namesOf, wordsOf, type Names } from './names.ts'
import { spellings, type Part } from './spelling.ts'

/** Records of one resource, by the names that the command has for their fields. */
export interface Source {
  readonly resource: Resource
  readonly names: Names
  /** Filters, by these names, that the records of the command pass. */
  readonly where: Readonly<Record<string, string>>
}

export interface Command extends Source {
  readonly words: readonly string[]
  /** What it shows beside its own records, and does not change. */
  readonly others: readonly Source[]
  /** It is a part of its record. */
  readonly part: Part | undefined
  /** What it prints where it is run. */
  readonly prints: string | undefined
}

export type CommandTree = ReadonlyMap<string, Command>

/** The commands by their words, with a blank between: `volume snapshot`. */
export function commandTree(registry: Registry, served: Release): CommandTree {
  const tree = new Map<string, Command>()
  const add = (command: Command) => {
    const words = command.words.join(' ')
    if (!tree.has(words)) tree.set(words, command)
  }
  const byType = new Map<string, Resource>(registry.resources.map((resource) => [resource.type, resource]))
  for (const { command, type, names, where = {}, also = [], part, prints } of spellings) {
    const resource = byType.get(type)
    if (resource === undefined) continue
    const words = command.split(' ')
    const others = also.flatMap((other): Source[] => {
      const shown = byType.get(other.type)
      return shown === undefined
        ? []
        : [{ resource: shown, names: namesOf(shown, thingOf(words), served, other.names), where: {} }]
    })
    add({ words, resource, names: namesOf(resource, thingOf(words), served, names), where, others, part, prints })
  }
  for (const resource of registry.resources) {
    // These are commands already, with a path of their own.
    if (resource.type.startsWith('private/')) continue
    const words = wordsOf(resource)
    const names = namesOf(resource, thingOf(words), served)
    add({ words, resource, names, where: {}, others: [], part: undefined, prints: undefined })
  }
  return tree
}

/** What its command calls one of them: the last word. */
function thingOf(words: readonly string[]): string {
  return words.at(-1) ?? ''
}
