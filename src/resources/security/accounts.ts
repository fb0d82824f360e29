import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { mayUseHttp } from '../../core/access/login.ts'
import { removeRecord } from '../../core/plain.ts'
import { inline, type Caller, type Plan, type Step } from '../../core/verb.ts'
import { mayDo, type Role } from '../../model/access.ts'
import { groups, resource } from '../../model/resource.ts'
import { failure } from '../../model/failure.ts'
import { flag, name, oneOf, secret, text } from '../../model/kinds/index.ts'
import type { DraftOf, Hidden } from '../../model/rows.ts'
import { type Row, textOf } from '../../model/value.ts'
import type { Account } from '../../records/rows.ts'
import { applicationsKind, settledApplications, USUAL_APPLICATIONS, usesPassword } from './accounts/applications.ts'
import { PASSWORD_CHARACTERS_MIN, passwordProblem } from './passwords.ts'
import { clusterOwner, ownerFields, ownerNamed, ownerNames, type Owner } from './owners.ts'
import { insistOnCovering } from './roles/covering.ts'
import { ACCOUNTS_LOCK, findRole, insistOnRole, builtInRolesOf } from './roles/known-roles.ts'

export const ACCOUNTS = 'security/accounts'

/** Of the cluster and of all SVMs. */
const ACCOUNTS_MAX = 10_000

/** Changes an account by what a plan has made of the request. */
export const writeAccount: Step<DraftOf<typeof ACCOUNTS>> = {
  name: 'write record',
  async run(cluster, { key, input }) {
    const record = await cluster.record(ACCOUNTS, key)
    if (record === undefined) throw failure('accountNotFound')
    const before = record.body
    const after = await settled(cluster, { ...before, ...input }, ownerOf(before))
    if (isActiveAdmin(before) && !isActiveAdmin(after)) await insistOnAnotherAdmin(cluster, key)
    await cluster.commit([cluster.put(ACCOUNTS, after, { expect: record.revision })])
  },
}

const accountsResource = resource({
  path: `/${ACCOUNTS}`,
  noun: 'account',
  doc: 'Accounts log users in to the cluster or an SVM, by some applications and with a role.',
  key: ['owner.uuid', 'name'],
  recordKey: ['owner.uuid', 'name'],
  parent: 'owner.uuid',
  parentType: 'svm/svms',
  within: {
    role: {
      type: 'security/roles',
      fate: 'blocks',
      keys: (row: Row) => (isBuiltInRole(row) ? [] : [`${textOf(row['owner.uuid'])}/${textOf(row['role.name'])}`]),
    },
  },
  nameWithin: 'owner.uuid',
  columns: ['name', 'owner.name', 'role.name', 'applications.application', 'locked', 'comment'],
  form: { Account: ['name', 'owner.name', 'role.name', 'password', 'comment'], Logins: ['applications', 'locked'] },
  removal: 'disruptive',
  fields: {
    ...groups({ owner: 'The cluster or the SVM that the account belongs to.', role: 'The role of the account.' }),
    name: { doc: 'The name of the user.', kind: name({ charactersMax: 64 }), set: 'create', required: true },
    ...ownerFields,
    'role.name': {
      doc: 'The role of the user. The role belongs to the owner of the account. Default: the role that may do everything.',
      kind: text({ charactersMin: 1, charactersMax: 128 }),
      set: 'always',
    },
    applications: {
      doc: 'The applications by which the user logs in. Default: this interface, with the password.',
      kind: applicationsKind(),
      set: 'always',
    },
    password: {
      doc: 'The password of the user. Never shown.',
      kind: secret({ charactersMin: PASSWORD_CHARACTERS_MIN, charactersMax: 128 }),
      set: 'always',
    },
    password_hash_algorithm: {
      doc: 'The hash algorithm of the stored password. Not set: passwords are stored with scrypt.',
      kind: oneOf({ sha512: 'SHA-512.', sha256: 'SHA-256.', md5: 'MD5.' }),
      since: '9.11.1',
    },
    comment: { doc: 'A comment that describes the account.', kind: text({ charactersMax: 128 }), set: 'always' },
    locked: {
      danger: 'disruptive',
      doc: 'Whether the account is locked. Logins to a locked account are refused.',
      kind: flag(),
      set: 'always',
      default: false,
    },
  },
})

export const accounts: Behaviour<typeof accountsResource> = define(accountsResource, {
  secrets: {
    password: {
      isSame: (cluster, row, given) => cluster.secrets.checkPassword(given, textOf(row['$password'])),
    },
  },
  derive: [ownerNames],
  create: inline({
    example: { name: 'account_example', password: 'a password to show', 'role.name': 'readonly' },
    async plan(cluster, { caller, draft }) {
      const owner = await ownerNamed(cluster, draft['owner.name'])
      const key = `${owner.uuid}/${draft['name']}`
      if ((await cluster.find(ACCOUNTS, key)) !== undefined) {
        throw failure('accountNameTaken')
      }
      if ((await cluster.rows(ACCOUNTS)).length >= ACCOUNTS_MAX) {
        throw failure('clusterLimitReached', { max: ACCOUNTS_MAX, things: 'accounts' })
      }
      const { 'owner.name': _, ...given } = draft
      const usualRole = owner.scope === 'cluster' ? 'admin' : 'vsadmin'
      const whole = { 'role.name': usualRole, ...given, 'owner.uuid': owner.uuid, scope: owner.scope }
      const row = await settled(cluster, whole, owner)
      await insistOnCovering(cluster, caller, await roleOfAccount(cluster, row))
      return { key, input: row, locks: [ACCOUNTS_LOCK] }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        // The role may have gone since the plan was made.
        await insistOnRole(cluster, ownerOf(input), input['role.name'] ?? '')
        await cluster.commit([cluster.put(ACCOUNTS, input, { expect: 'absent' })])
      },
    },
  }),
  modify: inline({
    example: { 'role.name': 'none' },
    async plan(cluster, { caller, row, draft }) {
      await insistOnMayChange(cluster, caller, row)
      await insistOnCovering(cluster, caller, await roleOfAccount(cluster, { ...row, ...draft }))
      const { password, ...given } = draft
      const input = { ...given, ...(await hashOf(cluster, row, password)) }
      await settled(cluster, { ...row, ...input }, ownerOf(row))
      return { key: keyOf(row), input, locks: [ACCOUNTS_LOCK] }
    },
    step: writeAccount,
  }),
  remove: inline({
    async plan(cluster, { row, caller }) {
      if (row['scope'] === 'cluster' && row['name'] === caller.user) {
        throw failure('accountDeletesItself')
      }
      await insistOnMayChange(cluster, caller, row)
      return { key: keyOf(row), input: {}, locks: [ACCOUNTS_LOCK] }
    },
    step: {
      name: 'remove record',
      async run(cluster, { key }) {
        const account = await cluster.find(ACCOUNTS, key)
        if (account === undefined) return
        if (isActiveAdmin(account)) await insistOnAnotherAdmin(cluster, key)
        await removeRecord(cluster, ACCOUNTS, key)
      },
    },
  }),
})

/** The first account of a new cluster. */
export async function firstAccount(cluster: Cluster, clusterUuid: string, password: string): Promise<Account> {
  // It was chosen by who starts the cluster, maybe in a script: a start does not fail for it.
  if (passwordProblem('admin', password) !== undefined) {
    cluster.log.warn('The password of the user admin is easy to guess. Change it before others reach the cluster.')
  }
  return {
    'owner.uuid': clusterUuid,
    name: 'admin',
    'role.name': 'admin',
    applications: USUAL_APPLICATIONS,
    locked: false,
    scope: 'cluster',
    $password: await cluster.secrets.hashPassword(password),
  }
}

/** Accounts of earlier releases are kept under the name of the cluster. At each start, before anybody logs in. */
export async function adoptAccounts(cluster: Cluster): Promise<void> {
  const { uuid } = await clusterOwner(cluster)
  const old = (await cluster.records(ACCOUNTS)).filter(({ body }) => body['owner.uuid'] === undefined)
  if (uuid === '' || old.length === 0) return
  await cluster.commit(
    old.flatMap(({ type, key, body }) => {
      const { 'owner.name': _, ...kept } = body
      const account = { applications: USUAL_APPLICATIONS, ...kept, 'owner.uuid': uuid }
      return [{ do: 'remove-record', type, key } as const, cluster.put(ACCOUNTS, account)]
    }),
  )
}

/** API keys of earlier releases are kept under the name of their owner. At each start, before anybody logs in. */
export async function adoptKeys(cluster: Cluster): Promise<void> {
  const type = 'security/authentication/keys'
  for (const { body, revision } of await cluster.records(type)) {
    if (body['user.owner.uuid'] !== undefined) continue
    const { 'user.owner.name': name, ...key } = body
    const owner = await ownerNamed(cluster, name ?? '').catch(() => undefined)
    // Of an SVM that has gone, it logs nobody in.
    if (owner === undefined) continue
    await cluster.commit([cluster.put(type, { ...key, 'user.owner.uuid': owner.uuid }, { expect: revision })])
  }
}

function roleOfAccount(cluster: Cluster, account: Account): Promise<Role | undefined> {
  return findRole(cluster, ownerOf(account), account['role.name'] ?? '')
}

/** Who could change the password of an administrator would be one. Everybody changes their own. */
async function insistOnMayChange(cluster: Cluster, caller: Caller, account: Account): Promise<void> {
  if (isOwn(caller, account)) return
  await insistOnCovering(cluster, caller, await roleOfAccount(cluster, account))
}

/** An API key may have a smaller role than its user: then it does not speak for the user's account. */
function isOwn(caller: Caller, account: Account): boolean {
  return account['scope'] !== 'svm' && account['name'] === caller.user && account['role.name'] === caller.role
}

/** A new password for an account: for one's own, or by who may change accounts. */
export async function planPassword(
  cluster: Cluster,
  caller: Caller,
  key: string,
  password: string,
): Promise<Plan<DraftOf<typeof ACCOUNTS>>> {
  const row = await cluster.find(ACCOUNTS, key)
  if (row === undefined || !isOwn(caller, row)) {
    const role = await findRole(cluster, await clusterOwner(cluster), caller.role)
    // Who may not see accounts is not told which there are.
    if (role === undefined || !mayDo(role, `/api/${ACCOUNTS}`, 'PATCH')) {
      throw failure('roleDenies', { role: caller.role, method: 'POST', path: 'the password of another user' })
    }
    if (row === undefined) throw failure('accountNotFound', {}, { target: 'name' })
    await insistOnMayChange(cluster, caller, row)
  }
  return { key, input: await hashOf(cluster, row, password), locks: [ACCOUNTS_LOCK] }
}

function keyOf(account: Account): string {
  return `${account['owner.uuid']}/${account['name']}`
}

function ownerOf(account: Account): Owner {
  return { uuid: account['owner.uuid'], name: '', scope: account['scope'] ?? 'cluster' }
}

/** Whole and checked; the password as its hash: the field itself is never stored. */
async function settled(cluster: Cluster, { password, ...row }: Account, owner: Owner): Promise<Account> {
  await insistOnRole(cluster, owner, row['role.name'] ?? '')
  const applications = settledApplications(row['applications'])
  const hashed = { ...row, ...(await hashOf(cluster, row, password)) }
  const hasPassword = typeof hashed['$password'] === 'string'
  if (!hasPassword && usesPassword(applications)) {
    throw failure('passwordRequired')
  }
  if (!hasPassword && row['locked'] === true) {
    throw failure('lockWithoutPassword')
  }
  return { ...hashed, applications }
}

/** The hash of a password, where one is given that an account may have. */
async function hashOf(
  cluster: Cluster,
  account: Hidden & { readonly name: string },
  password: string | undefined,
): Promise<Hidden> {
  if (typeof password !== 'string') return {}
  const problem = passwordProblem(account['name'], password)
  if (problem !== undefined) throw problem
  const before = account['$password']
  if (typeof before === 'string' && (await cluster.secrets.checkPassword(password, before))) {
    // Tools tell by the beginning of these words that the password is as they want it (netapp.ontap 22.7).
    throw failure('passwordUnchanged')
  }
  return { $password: await cluster.secrets.hashPassword(password) }
}

async function insistOnAnotherAdmin(cluster: Cluster, key: string): Promise<void> {
  const admins = (await cluster.rows(ACCOUNTS)).filter((row) => isActiveAdmin(row) && keyOf(row) !== key)
  if (admins.length === 0) {
    throw failure('lastAdministrator')
  }
}

function isActiveAdmin(account: Account): boolean {
  return (
    account['scope'] === 'cluster' &&
    account['role.name'] === 'admin' &&
    account['locked'] !== true &&
    typeof account['$password'] === 'string' &&
    mayUseHttp(account)
  )
}

function isBuiltInRole(account: Row): boolean {
  const scope = account['scope'] === 'svm' ? 'svm' : 'cluster'
  return builtInRolesOf(scope).some(({ name: role }) => role === account['role.name'])
}
