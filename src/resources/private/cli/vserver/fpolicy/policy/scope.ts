import { define } from '../../../../../../core/behaviour.ts'
import { failures } from '../../../../../../model/failure.ts'
import { flag, list, text } from '../../../../../../model/kinds/index.ts'
import type { FieldDeclaration } from '../../../../../../model/resource.ts'
import { fpolicyName, FPOLICY_POLICIES } from '../../../../../protocols/fpolicy/names.ts'
import { fpolicyPolicies } from '../../../../../protocols/fpolicy/policies.ts'
import { hasScope, SCOPE_NAMES_MAX } from '../../../../../protocols/fpolicy/policies/scope.ts'
import {
  commandVerbs,
  recordOf,
  renamed,
  rowsBy,
  spelled,
  type Spelling,
  verbOf,
  vserverField,
} from '../command-line.ts'

const lists = {
  shares_to_include: 'scope.include_shares',
  shares_to_exclude: 'scope.exclude_shares',
  volumes_to_include: 'scope.include_volumes',
  volumes_to_exclude: 'scope.exclude_volumes',
  export_policies_to_include: 'scope.include_export_policies',
  export_policies_to_exclude: 'scope.exclude_export_policies',
  file_extensions_to_include: 'scope.include_extension',
  file_extensions_to_exclude: 'scope.exclude_extension',
} as const

const flags = {
  is_file_extension_check_on_directories_enabled: 'scope.check_extensions_on_directories',
  is_monitoring_of_objects_with_no_extension_enabled: 'scope.object_monitoring_with_no_extension',
} as const

const plain = renamed({ ...lists, ...flags })

const spelling: Spelling = {
  type: FPOLICY_POLICIES,
  name: 'policy_name',
  // The command line always shows whether, where records say only what was said.
  show: (row) => ({ ...Object.fromEntries(Object.keys(flags).map((name) => [name, false])), ...plain.show(row) }),
  read: plain.read,
  isShown: hasScope,
}

const modify = verbOf(fpolicyPolicies, 'modify')

export const fpolicyScopeCommand = define(
  {
    path: '/private/cli/vserver/fpolicy/policy/scope',
    noun: 'scope of the FPolicy policy',
    doc: 'What policies of FPolicy are about, by the names that the command line gives it.',
    key: ['vserver', 'policy_name'],
    recordKey: ['vserver', 'policy_name'],
    rowsOf: FPOLICY_POLICIES,
    nameWithin: false,
    fields: {
      vserver: vserverField,
      policy_name: { doc: 'The name of the policy.', kind: fpolicyName(), set: 'create', required: true },
      ...Object.fromEntries(
        Object.keys(lists).map((name): [string, FieldDeclaration] => [
          name,
          {
            doc: `The ${name.replaceAll('_', ' ')}.`,
            kind: list(text({ charactersMin: 1, charactersMax: 256 }), { elementsMax: SCOPE_NAMES_MAX }),
            set: 'always',
          },
        ]),
      ),
      ...Object.fromEntries(
        Object.keys(flags).map((name): [string, FieldDeclaration] => [
          name,
          { doc: `The ${name.replaceAll('_', ' ')}.`, kind: flag(), set: 'always' },
        ]),
      ),
    },
  },
  {
    rows: rowsBy(spelling),
    modify: commandVerbs(spelling, fpolicyPolicies).modify,
    create: spelled(spelling, modify, async (cluster, { draft }) => {
      const row = await recordOf(cluster, spelling, draft)
      if (hasScope(row)) throw failures.duplicate('The scope of the policy', 'policy-name')
      return { row, draft: { 'scope.$isMade': true, ...spelling.read(draft) } }
    }),
    remove: spelled(spelling, modify, async (cluster, { row = {} }) => ({
      row: await recordOf(cluster, spelling, row),
      draft: Object.fromEntries(
        ['scope.$isMade', ...Object.values({ ...lists, ...flags })].map((path) => [path, null]),
      ),
    })),
  },
)
