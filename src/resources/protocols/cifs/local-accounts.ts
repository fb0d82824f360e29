/** What local users and groups of a CIFS server have in common: their names, and the numbers that Windows knows them by. */
import type { Ground } from '../../../core/grounds.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { namedUuid } from '../../../records/named-uuid.ts'
import { failure } from '../../../model/failure.ts'
import { text } from '../../../model/kinds/index.ts'
import type { NewOf } from '../../../model/rows.ts'
import { insistOnCifs } from './services.ts'

export const LOCAL_USERS = 'protocols/cifs/local-users'
export const LOCAL_GROUPS = 'protocols/cifs/local-groups'

/** The first number that Windows gives to accounts which somebody made. */
const FIRST_RID = 1000
/** Users and groups of one server. */
const ACCOUNTS_MAX = 10_000

/** A name, perhaps with that of its server or domain: `CIFS1\anna`. */
export const accountName = (charactersMax: number) =>
  text({
    charactersMin: 1,
    charactersMax,
    pattern: /^[^"/[\]:|<>+=;,?*@]+$/,
    patternDoc: 'anything without " / [ ] : | < > + = ; , ? * @',
  })

type NewAccount = NewOf<typeof LOCAL_USERS> | NewOf<typeof LOCAL_GROUPS>

/** Held while a number is chosen. */
export const sidLock = ({ draft }: { readonly draft: NewAccount }): readonly Ground[] => [
  {
    lock: `cifs-sids:${draft['svm.uuid']}`,
    types: [LOCAL_USERS, LOCAL_GROUPS],
    parent: draft['svm.uuid'],
  },
]

/** The row of a new account, with the number that it is known by. To be called with `sidLock` held. */
export async function withSid<Of extends NewAccount>(
  cluster: Cluster,
  row: Of,
): Promise<Of & { readonly sid: string }> {
  await insistOnCifs(cluster, row)
  const svm = row['svm.uuid']
  const accounts = [...(await cluster.rows(LOCAL_USERS, svm)), ...(await cluster.rows(LOCAL_GROUPS, svm))]
  if (accounts.length >= ACCOUNTS_MAX) {
    throw failure('cifsAccountLimit', { max: ACCOUNTS_MAX })
  }
  const rid = accounts.reduce((least, row) => Math.max(least, Number(row['sid'].split('-').at(-1)) + 1), FIRST_RID)
  return { ...row, sid: `${domainSid(cluster, svm)}-${rid}` }
}

/** Of the accounts of a server, the same as long as there is its SVM. */
function domainSid(cluster: Cluster, svm: string): string {
  const hex = namedUuid(cluster, `cifs accounts of ${svm}`).replaceAll('-', '')
  const parts = [0, 8, 16].map((at) => Number.parseInt(hex.slice(at, at + 8), 16))
  return `S-1-5-21-${parts.join('-')}`
}
