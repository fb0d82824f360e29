/** All actions there are, with the ways in which the REST interface spells them: for faces that list them. */
import { argumentsOf } from '../model/arguments.ts'
import type { Field } from '../model/resource.ts'
import type { Action } from './action.ts'
import type { Behaviour, VerbName } from './behaviour.ts'

export interface ListedAction {
  readonly behaviour: Behaviour
  readonly name: string
  readonly action: Action
  readonly args: readonly Field[]
  /** `PATCH {clone.split_initiated: true}`, `PATCH ?action=pause`, `POST /private/cli/volume/recovery-queue/purge`. */
  readonly spellings: readonly string[]
}

export function listActions(behaviours: readonly Behaviour[]): readonly ListedAction[] {
  return behaviours.flatMap((behaviour) =>
    Object.entries(behaviour.actions ?? {}).map(([name, action]) => ({
      behaviour,
      name,
      action,
      args: [...argumentsOf(action.args).values()],
      spellings: [...spellingsIn(behaviour, action), ...spellingsElsewhere(behaviours, behaviour, name)],
    })),
  )
}

function spellingsIn({ resource, modify }: Behaviour, { spelled }: Action): string[] {
  return Object.entries(spelled?.asks ?? {}).flatMap(([path, words]) => {
    const said = words === 'any' ? '…' : words.map(String).join('|')
    const inBody = resource.fields.has(path) ? [`PATCH {${path}: ${said}}`] : []
    const inQuery = argumentsOf(modify?.args).has(path) ? [`PATCH ?${path}=${said}`] : []
    return inBody.concat(inQuery)
  })
}

const METHODS = { create: 'POST', modify: 'PATCH', remove: 'DELETE' } as const satisfies Record<VerbName, string>

function spellingsElsewhere(behaviours: readonly Behaviour[], { resource }: Behaviour, name: string): string[] {
  return behaviours.flatMap((other) =>
    (Object.keys(METHODS) as VerbName[]).flatMap((verb) => {
      const { spells } = other[verb] ?? {}
      return spells?.type === resource.type && spells.name === name ? [`${METHODS[verb]} ${other.resource.path}`] : []
    }),
  )
}
