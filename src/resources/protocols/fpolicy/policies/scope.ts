/** What a policy of FPolicy is about: which shares, volumes, export policies and extensions, and which not. */
import { flag, list, text } from '../../../../model/kinds/index.ts'
import { fieldsBelow } from '../../../../model/fields-below.ts'
import type { DraftOf } from '../../../../model/rows.ts'
import { namesOf } from '../../../../model/value.ts'
import type { FPOLICY_POLICIES } from '../names.ts'

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
  ...fieldsBelow('scope', namesOf(lists), (name) => ({
    doc: lists[name],
    kind: list(text({ charactersMin: 1, charactersMax: 256 }), { elementsMax: SCOPE_NAMES_MAX }),
    set: 'always',
  })),
  ...fieldsBelow('scope', namesOf(flags), (name) => ({
    doc: flags[name],
    kind: flag(),
    set: 'always',
    isClearable: true,
    since: '9.11.1',
  })),
}

/** Whether anything was said about the scope of a policy. */
export function hasScope(policy: DraftOf<typeof FPOLICY_POLICIES>): boolean {
  return namesOf(scopeFields).some((path) => (policy[path] ?? null) !== null)
}
