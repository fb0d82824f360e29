import { type Behaviour, define } from '../../../../core/behaviour.ts'
import { plainVerbs } from '../../../../core/plain.ts'
import { failure } from '../../../../model/failure.ts'
import { count, name, text } from '../../../../model/kinds/index.ts'
import { type FieldDeclaration, resource } from '../../../../model/resource.ts'
import { namesBy } from '../../../../model/naming.ts'
import { each } from '../../../../model/kinds/index.ts'
import { POLICIES } from './builtin-policies.ts'
import { meantSince } from '../../../../records/namesakes.ts'
import { giveUpName, insistOnName, namesSetNow, takeName } from './namesakes.ts'
import { GROUPS, USERS } from './users.ts'

const groupsResource = resource({
  path: '/protocols/s3/services/{svm.uuid}/groups',
  noun: 'object store group',
  doc: 'Object store groups grant their policies to their users.',
  key: ['id'],
  recordKey: ['svm.uuid', 'id'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  columns: ['name', 'svm.name', 'users.name', 'policies.name', 'comment'],
  form: { Group: ['name', 'svm.name', 'users', 'policies', 'comment'] },
  removal: 'disruptive',
  within: {
    users: namesBy(USERS, 'kept', 'users.name', { under: 'svm.uuid' }),
    policies: namesBy(POLICIES, 'kept', 'policies.name', { under: 'svm.uuid' }),
  },
  fields: {
    id: { doc: 'The ID of the group.', kind: count() },
    name: { doc: 'The name of the group.', kind: name({ charactersMax: 128 }), set: 'always', required: true },
    svm: { doc: 'The SVM that owns the group.', ref: 'svm/svms', set: 'create', required: true },
    comment: { doc: 'A comment that describes the group.', kind: text({ charactersMax: 256 }), set: 'always' },
    users: { ...names('The users in the group.'), required: true },
    policies: { ...names('The policies that apply to the users of the group.'), required: true },
  },
})

export const groups: Behaviour<typeof groupsResource> = define(
  groupsResource,
  plainVerbs(GROUPS, {
    example: { name: 'group_example', users: [{ name: 'demo' }], policies: [{ name: 'ReadOnlyAccess' }] },
    async check(cluster, given, before) {
      const isNamed = before?.['name'] !== given['name']
      const { [meantSince]: since = null, ...kept } = given
      const meant = isNamed
        ? await takeName(cluster, 'group', given['name'])
        : since === null
          ? {}
          : { [meantSince]: since }
      const row = { ...kept, ...meant, ...(await namesSetNow(cluster)) }
      const svm = row['svm.uuid']
      for (const [field, type, noun] of [
        ['users', USERS, 'user'],
        ['policies', POLICIES, 'policy'],
      ] as const) {
        for (const each of row[field]) {
          const named = each['name']
          if ((await cluster.find(type, `${svm}/${named}`)) === undefined) {
            throw failure('groupMemberUnknown', { noun, name: named, field })
          }
        }
      }
      if (row['id'] !== undefined) return row
      const ids = (await cluster.rows(GROUPS, svm)).map((group) => group.id)
      return { ...row, id: Math.max(0, ...ids) + 1 }
    },
    goesWithRow(row, before) {
      if (before?.['name'] === row['name']) return []
      const left = before === undefined ? [] : [giveUpName('group', before['name'])]
      return [...left, insistOnName('group', row)]
    },
    goesWith: (_key, row) => [giveUpName('group', row['name'])],
  }),
)

function names(doc: string) {
  return {
    doc,
    kind: each({ name: { kind: text({ charactersMin: 1, charactersMax: 128 }), doc: 'The name.', required: true } }),
    set: 'always',
  } as const satisfies FieldDeclaration
}
