import { type Behaviour, define, type Derivation } from '../../../core/behaviour.ts'
import { bytes, count, each, flag, oneOf, text, uuid } from '../../../model/kinds/index.ts'
import { groups, resource } from '../../../model/resource.ts'
import type { FieldDeclaration } from '../../../model/resource.ts'
import { type Row, textAt } from '../../../model/value.ts'
import { QTREES } from '../qtree-verbs.ts'
import { limit } from './limit-kind.ts'
import { createRule, modifyRule, removeRule } from './rule-verbs.ts'
import { QUOTA_RULES } from './limits.ts'

const name = (doc: string) => ({ doc, kind: text({ charactersMax: 256 }) })
const id = (doc: string) => ({
  doc,
  kind: text({ charactersMax: 32, pattern: /^\d+$/, patternDoc: 'the number of a user or group' }),
})
const limited = (doc: string, kind: FieldDeclaration['kind']): FieldDeclaration => ({
  doc: `${doc} \`-1\` or \`-\`: none.`,
  kind: limit(kind ?? bytes()),
  set: 'always',
})

/** Names of qtrees are looked up, so that a rename shows. The rule for all qtrees that have none has the name ''. */
const qtreeNames: Derivation = {
  gives: ['qtree.name'],
  async from(cluster, rows) {
    const derived: Row[] = []
    for (const row of rows) {
      const { 'qtree.id': qtree, type } = row
      if (qtree === undefined) derived.push(type === 'tree' ? { 'qtree.name': '' } : {})
      else {
        const found = await cluster.find(QTREES, `${textAt(row, 'volume.uuid')}/${textAt(row, 'qtree.id')}`)
        derived.push({ 'qtree.name': found?.['name'] ?? null })
      }
    }
    return derived
  },
}

const quotaRulesResource = resource({
  path: `/${QUOTA_RULES}`,
  noun: 'quota rule',
  doc: 'Rules of quotas: how much a qtree, a user or a group may hold of a volume. They hold while quotas of the volume are on.',
  key: ['uuid'],
  parent: 'volume.uuid',
  nameWithin: false,
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
    volume: { doc: 'The volume it is about.', ref: 'storage/volumes', set: 'create', required: true },
    type: {
      doc: 'Whom it limits.',
      kind: oneOf('tree', 'user', 'group'),
      set: 'create',
      required: true,
    },
    'qtree.name': {
      ...name('The qtree. Of a tree rule empty: all qtrees without a rule. Of other rules empty: the whole volume.'),
      set: 'create',
    },
    'qtree.id': { doc: 'The number of the qtree.', kind: count({ min: 0 }) },
    users: {
      when: { field: 'type', is: ['user'] },
      doc: 'The user of a user rule: one. An empty name: all without a rule.',
      kind: each({ name: name('The name of the user.'), id: id('The number of the user.') }, { elementsMax: 100 }),
      set: 'create',
    },
    'group.name': { ...name('The group of a group rule. An empty name: all without a rule.'), set: 'create' },
    'group.id': { ...id('The number of the group.'), set: 'create' },
    user_mapping: {
      doc: 'Whether names of users are translated between UNIX and Windows. Of user rules; kept for file access.',
      kind: flag(),
      set: 'always',
    },
    'space.hard_limit': limited('Bytes that nobody gets beyond.', bytes()),
    'space.soft_limit': limited('Bytes beyond which an event tells of it.', bytes()),
    'files.hard_limit': limited('Files that nobody gets beyond.', count({ min: 0 })),
    'files.soft_limit': limited('Files beyond which an event tells of it.', count({ min: 0 })),
  },
})

export const quotaRules: Behaviour<typeof quotaRulesResource> = define(quotaRulesResource, {
  derive: [qtreeNames],
  create: createRule,
  modify: modifyRule,
  remove: removeRule,
})
