/**
 * Who calls: HTTP Basic with an account's password, or an API key as bearer token. Nothing in the time of an answer
 * tells whether a user exists: an unknown user costs a password check like a known one.
 */
import { builtinRoles, roleOf, type Role } from '../../model/access.ts'
import { failure } from '../../model/failure.ts'
import { type Row, textOf } from '../../model/value.ts'
import type { Account } from '../../records/rows.ts'
import type { Cluster } from '../cluster.ts'
import { type Attempt, FAILURES_OF_ADDRESS_MAX, Guesses } from './guesses.ts'
import { uuidOfToken } from './token.ts'
import type { Caller } from '../verb.ts'

/** Password checks are slow on purpose; one that succeeded is remembered until the account changes, so many of them. */
const REMEMBERED_MAX = 1024
const HEADER_CHARACTERS_MAX = 8192
/** Password checks at once; each takes a core for some 50 ms. */
const CHECKS_MAX = 64

/** Whether the account logs in to this interface with its password. */
export function mayUseHttp(account: Account | undefined): boolean {
  return (account?.['applications'] ?? []).some(
    (each) => each.application === 'http' && each.authentication_methods.includes('password'),
  )
}

export class Login {
  readonly #cluster: Cluster
  /** Digest of the credentials → the account's hash they were checked against. */
  readonly #remembered = new Map<string, string>()
  readonly #guesses: Guesses
  #checks = 0
  readonly #decoy: string

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    this.#decoy = cluster.secrets.decoyHash()
    this.#guesses = new Guesses(() => cluster.now())
  }

  async authenticate(authorization: string | undefined, from: string): Promise<{ caller: Caller; role: Role }> {
    const found = authorization === undefined ? undefined : await this.#find(authorization, from)
    if (found !== undefined) return found(from)
    throw failure('unauthenticated')
  }

  async #find(
    authorization: string,
    address: string,
  ): Promise<((from: string) => { caller: Caller; role: Role }) | undefined> {
    const isShort = authorization.length <= HEADER_CHARACTERS_MAX
    const [, scheme = '', credentials = ''] = (isShort && /^([A-Za-z]+) +(\S+) *$/.exec(authorization)) || []
    const row =
      scheme.toLowerCase() === 'basic'
        ? await this.#byPassword(credentials, address)
        : ((scheme.toLowerCase() === 'bearer' ? await this.#byKey(credentials) : undefined) ??
          (await this.#note(this.#guesses.attempt(address), address)))
    if (row === undefined) return undefined
    const role = await this.#roleOf(row)
    const user = textOf(row['name'] ?? row['user.name'])
    return role === undefined ? undefined : (from) => ({ caller: { user, role: role.name, from }, role })
  }

  async #byPassword(credentials: string, address: string): Promise<Row | undefined> {
    const decoded = Buffer.from(credentials, 'base64').toString()
    const colon = decoded.indexOf(':')
    if (colon < 0) return this.#note(this.#guesses.attempt(address), address)
    const { secrets } = this.#cluster
    const [user, password] = [decoded.slice(0, colon), decoded.slice(colon + 1)]
    const [self] = await this.#cluster.rows('cluster')
    const account = await this.#cluster.find('security/accounts', `${textOf(self?.['uuid'])}/${user}`)
    const hash = account?.['$password']
    const isShutOut = account?.['locked'] === true || !mayUseHttp(account)
    const digest = secrets.digest(credentials)
    if (typeof hash === 'string' && this.#remembered.get(digest) === hash) {
      return isShutOut ? undefined : account
    }
    // Credentials that were right before pass even while somebody else at the address is guessing.
    const attempt = this.#guesses.attempt(address, user)
    if (this.#checks >= CHECKS_MAX) {
      attempt.takeBack()
      throw failure('tooManyLogins')
    }
    this.#checks++
    try {
      const isRight = await secrets.checkPassword(password, typeof hash === 'string' ? hash : this.#decoy)
      if (!isRight || typeof hash !== 'string' || isShutOut) return await this.#note(attempt, address)
      attempt.takeBack()
      if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.delete(this.#remembered.keys().next().value ?? '')
      this.#remembered.set(digest, hash)
      return account
    } finally {
      this.#checks--
    }
  }

  async #byKey(token: string): Promise<Row | undefined> {
    const { secrets } = this.#cluster
    const row = await this.#cluster.find('security/authentication/keys', uuidOfToken(token) ?? '')
    const expected = typeof row?.['$digest'] === 'string' ? row['$digest'] : secrets.digest('')
    if (row === undefined || !secrets.isEqual(secrets.digest(token), expected)) return undefined
    const owner = textOf(row['user.owner.uuid'])
    const account = await this.#cluster.find('security/accounts', `${owner}/${textOf(row['user.name'])}`)
    return account?.['locked'] === true ? undefined : row
  }

  /** One of those that every cluster has, or one that was made. */
  async #roleOf(row: Row): Promise<Role | undefined> {
    const name = textOf(row['role.name'])
    const builtIn = builtinRoles.find((role) => role.name === name)
    const owner = row['owner.uuid']
    if (builtIn !== undefined || owner === undefined) return builtIn
    const made = await this.#cluster.find('security/roles', `${textOf(owner)}/${name}`)
    return made === undefined ? undefined : roleOf(name, made['privileges'])
  }

  /** An event for the first failure of an address in a minute, and when it has to wait. */
  async #note({ ofAddress }: Attempt, from: string): Promise<undefined> {
    if (ofAddress !== 1 && ofAddress !== FAILURES_OF_ADDRESS_MAX) return
    await this.#cluster.catalog.commit([this.#cluster.event('security.login.failed', { from, count: ofAddress })])
  }
}
