/** What a policy of FPolicy is about: which shares, volumes, export policies and extensions, and which not. */
import { flag, list, text } from '../../../../model/kinds/index.ts'
import type { FieldDeclaration, Fields } from '../../../../model/resource.ts'
import type { Row } from '../../../../model/value.ts'

/** Names in one list; the documented limit of the field. */
const SCOPE_NAMES_MAX = 250

const lists = {
  include_shares: 'Shares that it is about.',
  exclude_shares: 'Shares that it is not about.',
  include_volumes: 'Volumes that it is about, by name; * stands for any text.',
  exclude_volumes: 'Volumes that it is not about.',
  include_export_policies: 'Export policies whose volumes it is about.',
  exclude_export_policies: 'Export policies whose volumes it is not about.',
  include_extension: 'Extensions of files that it is about.',
  exclude_extension: 'Extensions of files that it is not about.',
} as const

const flags = {
  check_extensions_on_directories: 'Whether names of folders have extensions too.',
  object_monitoring_with_no_extension: 'Whether it is about files without an extension.',
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
