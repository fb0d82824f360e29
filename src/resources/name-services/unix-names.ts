/** What names and numbers of UNIX users and groups look like, and how many an SVM has. */
import type { Cluster } from '../../core/cluster.ts'
import { failure } from '../../model/failure.ts'
import { count, flag, text } from '../../model/kinds/index.ts'
import type { FieldDeclaration } from '../../model/resource.ts'
import type { NewOf } from '../../model/rows.ts'
import type { Row } from '../../model/value.ts'

const ID_MAX = 2 ** 32 - 1
const NAME_CHARACTERS_MAX = 64
/** Users of an SVM, and groups of one. */
const NAMES_MAX = 65_536

export const idKind = () => count({ min: 0, max: ID_MAX })

export const nameKind = () => text({ charactersMin: 1, charactersMax: 256 })

export const skipNameValidation = {
  doc: 'Whether the name is not checked against the rules for UNIX names.',
  kind: flag(),
  set: 'always',
  isInput: true,
} as const satisfies FieldDeclaration

type Named = 'name-services/unix-users' | 'name-services/unix-groups'

/** Looks at a new or changed row of one of these types: its name, unless that is not to be looked at, and their number. */
export function checkNamed(type: Named, noun: string) {
  return async (cluster: Cluster, given: NewOf<Named>): Promise<Row> => {
    const { skip_name_validation: skip, ...row } = given
    const { name } = row
    const isFree = skip === true || row['$hasFreeName'] === true
    if (!isFree && (name.length > NAME_CHARACTERS_MAX || !/^[A-Za-z_][A-Za-z0-9_.-]*\$?$/.test(name))) {
      throw failure('unixNameMalformed', { noun, max: NAME_CHARACTERS_MAX })
    }
    const others = await cluster.rows(type, row['svm.uuid'])
    if (others.length >= NAMES_MAX && !others.some((other) => other['name'] === name)) {
      throw failure('unixNameLimit', { max: NAMES_MAX })
    }
    return isFree ? { ...row, $hasFreeName: true } : row
  }
}
