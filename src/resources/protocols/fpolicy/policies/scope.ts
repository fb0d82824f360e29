/** What a policy of FPolicy is about: which shares, volumes, export policies and extensions, and which not. */
import { flag, list, text } from '../../../../model/kinds/index.ts'
import type { FieldDeclaration, Fields } from '../../../../model/resource.ts'
import type { Row } from '../../../../model/value.ts'

/** Names in one list; the documented limit of the field. */
const SCOPE_NAMES_MAX = 250

const lists = {
  include_shares: 'The shares that the policy covers.',
  exclude_shares: 'The shares that the policy does not cover.',
  include_volumes: 'The names of the volumes that the policy covers. `*` matches any text.',
  exclude_volumes: 'The names of the volumes that the policy does not cover.',
  include_export_policies: 'The export policies whose volumes the policy covers.',
  exclude_export_policies: 'The export policies whose volumes the policy does not cover.',
  include_extension: 'The file extensions that the policy covers.',
  exclude_extension: 'The file extensions that the policy does not cover.',
} as const

const flags = {
  check_extensions_on_directories: 'Whether extensions of folder names are checked, too.',
  object_monitoring_with_no_extension: 'Whether the policy covers files without an extension.',
} as const

export const scopeFields = {
  ...Object.fromEntries(
    Object.entries(lists).map(([name, doc]): [string, FieldDeclaration] => [
      `scope.${name}`,
      {
        doc,
        kind: list(text({ charactersMin: 1, charactersMax: 256 }), { elementsMax: SCOPE_NAMES_MAX }),
        set: 'always',
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(flags).map(([name, doc]): [string, FieldDeclaration] => [
      `scope.${name}`,
      { doc, kind: flag(), set: 'always', isClearable: true, since: '9.11.1' },
    ]),
  ),
} as const satisfies Fields

/** Whether anything was said about the scope of a policy. */
export function hasScope(policy: Row): boolean {
  return Object.keys(scopeFields).some((path) => isSet(policy, path))
}

function isSet(policy: Row, path: string): boolean {
  return policy[path] !== undefined && policy[path] !== null
}
