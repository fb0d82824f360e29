import { define } from '../../../../../core/behaviour.ts'
import { flag, list, text } from '../../../../../model/kinds/index.ts'
import { type Row, textAt } from '../../../../../model/value.ts'
import { fpolicyName, FPOLICY_POLICIES } from '../../../../protocols/fpolicy/names.ts'
import { fpolicyPolicies } from '../../../../protocols/fpolicy/policies.ts'
import { commandVerbs, renamed, rowsBy, type Spelling, vserverField } from './command-line.ts'

const plain = renamed({
  engine: 'engine.name',
  is_mandatory: 'mandatory',
  allow_privileged_access: 'allow_privileged_access',
  is_passthrough_read_enabled: 'passthrough_read',
  privileged_user_name: 'privileged_user',
})

const spelling: Spelling = {
  type: FPOLICY_POLICIES,
  name: 'policy_name',
  show: (row) => ({
    ...plain.show(row),
    events: ((row['events'] ?? []) as readonly Row[]).map((event) => textAt(event, 'name')),
  }),
  read: (given) => ({
    ...plain.read(given),
    ...(given['events'] === undefined
      ? {}
      : { events: ((given['events'] ?? []) as readonly string[]).map((name) => ({ name })) }),
  }),
}

export const fpolicyPolicyCommand = define(
  {
    path: '/private/cli/vserver/fpolicy/policy',
    noun: 'FPolicy policy',
    doc: 'Policies of FPolicy, by the names that the command line gives their fields.',
    key: ['vserver', 'policy_name'],
    recordKey: ['vserver', 'policy_name'],
    rowsOf: FPOLICY_POLICIES,
    nameWithin: false,
    fields: {
      vserver: vserverField,
      policy_name: { doc: 'The name of the policy.', kind: fpolicyName(), set: 'create', required: true },
      events: { doc: 'The events it is about.', kind: list(fpolicyName()), set: 'always', required: true },
      engine: { doc: 'The engine that is told.', kind: fpolicyName(), set: 'always' },
      is_mandatory: { doc: 'Whether access is refused while no server answers.', kind: flag(), set: 'always' },
      allow_privileged_access: { doc: 'Whether servers may read files.', kind: flag(), set: 'always' },
      is_passthrough_read_enabled: {
        doc: 'Whether servers may give the bytes of files that are elsewhere.',
        kind: flag(),
        set: 'always',
      },
      privileged_user_name: {
        doc: 'As whom servers may read files.',
        kind: text({ charactersMax: 256 }),
        set: 'always',
      },
    },
  },
  { rows: rowsBy(spelling), ...commandVerbs(spelling, fpolicyPolicies) },
)
