import { type Behaviour, define, type Derivation } from '../../../core/behaviour.ts'
import { bytes, count, each, flag, type Kind, oneOf, text, uuid } from '../../../model/kinds/index.ts'
import { groups, resource } from '../../../model/resource.ts'
import { namesBy } from '../../../model/naming.ts'
import type { FieldDeclaration } from '../../../model/resource.ts'
import type { Row } from '../../../model/value.ts'
import { QTREES } from '../qtree-verbs.ts'
import { limit } from './limit-kind.ts'
import { createRule, modifyRule, removeRule } from './rule-verbs.ts'
import { QUOTA_RULES } from './limits.ts'
import type { RowOf } from '../../../model/rows.ts'

const name = (doc: string) => ({ doc, kind: text({ charactersMax: 256 }) })
const id = (doc: string) => ({
  doc,
  kind: text({ charactersMax: 32, pattern: /^\d+$/, patternDoc: 'the number of a user or group' }),
})
const limited = (doc: string, kind: Kind<number> = bytes()) =>
  ({
    doc: `${doc} \`-1\` or \`-\`: none.`,
    kind: limit(kind),
    set: 'always',
  }) as const satisfies FieldDeclaration

/** Names of qtrees are looked up, so that a rename shows. The rule for all qtrees that have none has the name ''. */
const qtreeNames: Derivation<RowOf<'storage/quota/rules'>> = {
  gives: ['qtree.name'],
  async from(cluster, rows) {
    const derived: Row[] = []
    for (const row of rows) {
      const { 'qtree.id': qtree, type } = row
      if (qtree === undefined) derived.push(type === 'tree' ? { 'qtree.name': '' } : {})
      else {
        const found = await cluster.find(QTREES, `${row['volume.uuid']}/${qtree}`)
        derived.push({ 'qtree.name': found?.['name'] ?? null })
      }
    }
    return derived
  },
}

const quotaRulesResource = resource({
  path: `/${QUOTA_RULES}`,
  noun: 'quota rule',
  doc: 'Quota rules limit the space and the files of a qtree, a user or a group in a volume. They are enforced while quotas of the volume are on.',
  key: ['uuid'],
  parent: 'volume.uuid',
  nameWithin: false,
  // The default qtree has no record and is never deleted.
  within: { qtree: namesBy(QTREES, 'deleted', 'qtree.id', { under: 'volume.uuid', without: ['0'] }) },
  columns: [
    'type',
    'volume.name',
    'svm.name',
    'qtree.name',
    'users.name',
    'group.name',
    'space.hard_limit',
    'space.soft_limit',
    'files.hard_limit',
    'files.soft_limit',
  ],
  form: {
    Target: ['svm.name', 'volume.name', 'type', 'qtree.name', 'users', 'group.name'],
    Limits: ['space.hard_limit', 'space.soft_limit', 'files.hard_limit', 'files.soft_limit'],
  },
  removal: 'undoable',
  fields: {
    ...groups({
      qtree: 'The qtree that the quota rule is for.',
      group: 'The UNIX group that the quota rule is for.',
      space: 'Limits of space in the quota rule.',
      files: 'Limits of the number of files in the quota rule.',
    }),
    uuid: { doc: 'The UUID of the rule.', kind: uuid() },
    svm: { doc: 'The SVM of the volume.', ref: 'svm/svms', set: 'create', required: true },
    volume: { doc: 'The volume of the quota rule.', ref: 'storage/volumes', set: 'create', required: true },
    type: {
      doc: 'The target of the quota rule.',
      kind: oneOf({ tree: 'A qtree.', user: 'A user.', group: 'A group.' }),
      set: 'create',
      required: true,
    },
    'qtree.name': {
      ...name(
        'The name of the qtree. Empty in a tree rule: all qtrees without a rule. Empty in other rules: the whole volume.',
      ),
      set: 'create',
    },
    'qtree.id': { doc: 'The ID of the qtree.', kind: count({ min: 0 }) },
    users: {
      when: { field: 'type', is: ['user'] },
      doc: 'The user of a user rule. An empty name: all users without a rule.',
      kind: each({ name: name('The name of the user.'), id: id('The user ID.') }, { elementsMax: 100 }),
      set: 'create',
    },
    'group.name': { ...name('The group of a group rule. An empty name: all groups without a rule.'), set: 'create' },
    'group.id': { ...id('The group ID.'), set: 'create' },
    user_mapping: {
      doc: 'Whether user names are mapped between UNIX and Windows. Only for user rules; stored for file access.',
      kind: flag(),
      set: 'always',
    },
    'space.hard_limit': limited('The maximum number of bytes. Writes beyond it fail. `-1` or `-`: no limit.', bytes()),
    'space.soft_limit': limited('The number of bytes above which an event is logged. `-1` or `-`: no limit.', bytes()),
    'files.hard_limit': limited(
      'The maximum number of files. Writes beyond it fail. `-1` or `-`: no limit.',
      count({ min: 0 }),
    ),
    'files.soft_limit': limited(
      'The number of files above which an event is logged. `-1` or `-`: no limit.',
      count({ min: 0 }),
    ),
  },
})

export const quotaRules: Behaviour<typeof quotaRulesResource> = define(quotaRulesResource, {
  derive: [qtreeNames],
  create: createRule,
  modify: modifyRule,
  remove: removeRule,
})
