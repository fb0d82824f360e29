import { define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { inline } from '../../core/verb.ts'
import { builtinRoles } from '../../model/access.ts'
import { failures } from '../../model/failure.ts'
import { flag, name, oneOf, secret, text } from '../../model/kinds/index.ts'
import { type Row, textAt, textOf } from '../../model/value.ts'

const TYPE = 'security/accounts'

const PASSWORD_CHARACTERS_MIN = 8

export const roleNames = builtinRoles.map((role) => role.name)

export const accounts = define(
  {
    path: '/security/accounts',
    noun: 'account',
    doc: 'Who may log in to the management interface, and with which role.',
    key: ['owner.name', 'name'],
    recordKey: ['owner.name', 'name'],
    nameWithin: 'owner.name',
    fields: {
      name: { doc: 'The name of the user.', kind: name({ charactersMax: 64 }), set: 'create', required: true },
      'owner.name': { doc: 'The cluster the account is of.', kind: text(), set: 'create' },
      'role.name': { doc: 'What the user may do.', kind: oneOf(...roleNames), set: 'always', default: 'admin' },
      password: {
        doc: 'The password. It is never shown.',
        kind: secret({ charactersMin: PASSWORD_CHARACTERS_MIN, charactersMax: 128 }),
        set: 'always',
        required: true,
      },
      comment: { doc: 'Whose account it is.', kind: text({ charactersMax: 128 }), set: 'always' },
      locked: { doc: 'Whether logins are refused.', kind: flag(), set: 'always', default: false },
      scope: { doc: 'What it reaches.', kind: oneOf('cluster', 'svm') },
    },
  },
  {
    secrets: {
      password: {
        isSame: (cluster, row, given) => cluster.secrets.checkPassword(given, textAt(row, '$password')),
      },
    },
    create: inline({
      async plan(cluster, { draft }) {
        const clusterName = await nameOfCluster(cluster)
        const owner = textOf(draft['owner.name'] ?? clusterName)
        if (owner !== clusterName)
          throw failures.badValue('owner.name', 'accounts are of the cluster; SVM accounts come later.')
        const key = `${owner}/${textAt(draft, 'name')}`
        if ((await cluster.find(TYPE, key)) !== undefined) throw failures.duplicate('An account of that name', 'name')
        const row = await hashed(cluster, { ...draft, 'owner.name': owner, scope: 'cluster' })
        return { key, input: row, locks: [`account:${key}`] }
      },
      step: {
        name: 'write record',
        async run(cluster, { input }) {
          await cluster.commit([cluster.put(TYPE, input, { expect: 'absent' })])
        },
      },
    }),
    modify: inline({
      async plan(cluster, { row, draft }) {
        const key = `${textAt(row, 'owner.name')}/${textAt(row, 'name')}`
        return { key, input: await hashed(cluster, draft), locks: ['accounts'] }
      },
      step: {
        name: 'write record',
        async run(cluster, { key, input }) {
          const record = await cluster.catalog.record(TYPE, key)
          if (record === undefined) throw failures.notFound('account')
          const before = record.body as Row
          const after: Row = { ...before, ...input }
          if (isActiveAdmin(before) && !isActiveAdmin(after)) await insistOnAnotherAdmin(cluster, key)
          await cluster.commit([cluster.put(TYPE, after, { expect: record.revision })])
        },
      },
    }),
    remove: inline({
      plan(_cluster, { row, caller }) {
        const key = `${textAt(row, 'owner.name')}/${textAt(row, 'name')}`
        if (row?.['name'] === caller.user) throw failures.inUse('An account cannot delete itself.', 'name')
        return Promise.resolve({ key, input: {}, locks: ['accounts'] })
      },
      step: {
        name: 'remove record',
        async run(cluster, { key }) {
          await insistOnAnotherAdmin(cluster, key)
          const keys = (await cluster.rows('security/authentication/keys')).filter(
            (row) => `${textAt(row, 'user.owner.name')}/${textAt(row, 'user.name')}` === key,
          )
          await cluster.commit([
            ...keys.map(
              (row) =>
                ({ do: 'remove-record', type: 'security/authentication/keys', key: textAt(row, 'uuid') }) as const,
            ),
            { do: 'remove-record', type: TYPE, key },
          ])
        },
      },
    }),
  },
)

export async function nameOfCluster(cluster: Cluster): Promise<string> {
  return textOf((await cluster.rows('cluster'))[0]?.['name'] ?? '')
}

async function insistOnAnotherAdmin(cluster: Cluster, key: string): Promise<void> {
  const admins = (await cluster.rows(TYPE)).filter(
    (row) => isActiveAdmin(row) && `${textAt(row, 'owner.name')}/${textAt(row, 'name')}` !== key,
  )
  if (admins.length === 0) {
    throw failures.inUse('It is the last account with the role admin that can log in. Make another one first.', 'name')
  }
}

function isActiveAdmin(account: Row): boolean {
  return account['role.name'] === 'admin' && account['locked'] !== true
}

/** The password as its hash; the field itself is never stored. */
async function hashed(cluster: Cluster, row: Row): Promise<Row> {
  const { password, ...rest } = row
  return typeof password === 'string' ? { ...rest, $password: await cluster.secrets.hashPassword(password) } : rest
}
