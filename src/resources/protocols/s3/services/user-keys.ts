/**
 * The keys of users of the object store: made, made anew, taken away. A user has one pair or none; the secret is shown in
 * the answer that made it, and kept sealed. Keys with a time to live are of no use after it; they stay until others come.
 */
import type { Cluster } from '../../../../core/cluster.ts'
import { type Changing, inline } from '../../../../core/verb.ts'
import { failure } from '../../../../model/failure.ts'
import { duration, flag, text, time } from '../../../../model/kinds/index.ts'
import type { Fields } from '../../../../model/resource.ts'
import type { DraftOf, NewOf } from '../../../../model/rows.ts'
import { changedBy } from '../../../../model/value.ts'
import { accessKeyScope, sealedSecret } from '../../../../records/access-keys.ts'

export const USERS = 'protocols/s3/services/{svm.uuid}/users'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const ACCESS_KEY_CHARACTERS = 20
const SECRET_BYTES = 30

const TIME_TO_LIVE = 'key_time_to_live'
const EXPIRY = 'key_expiry_time'

export const keyFields = {
  access_key: {
    doc: 'The access key of the user. Default: a new key.',
    kind: text({
      charactersMin: 3,
      charactersMax: 128,
      pattern: /^[\w.+=/-]+$/,
      patternDoc: 'letters, digits and _.+=/-',
    }),
    set: 'create',
  },
  secret_key: {
    doc: 'The secret key of the user. Default: a new key. Shown only once: regenerate the keys if the secret key is lost.',
    kind: text({
      charactersMin: 8,
      charactersMax: 128,
      pattern: /^[\x21-\x7e]+$/,
      patternDoc: 'printable characters',
    }),
    set: 'create',
    shownOnce: true,
  },
  [TIME_TO_LIVE]: {
    doc: 'How long new keys of the user are valid, as an ISO 8601 duration such as PT6H or P90D. Default, and with PT0S: the keys do not expire.',
    kind: duration(),
    set: 'always',
    isClearable: true,
  },
  [EXPIRY]: { doc: 'When the keys of the user expire.', kind: time() },
  regenerate_keys: {
    danger: 'disruptive',
    doc: 'Whether to replace the keys of the user. The old keys become invalid immediately.',
    kind: flag(),
    set: 'modify',
    isOrder: true,
  },
  delete_keys: {
    danger: 'disruptive',
    doc: 'Whether to remove the keys of the user. The user cannot sign requests until the keys are regenerated.',
    kind: flag(),
    set: 'modify',
    isOrder: true,
  },
} as const satisfies Fields

export function uniqueKey({
  access_key: accessKey = null,
}: Pick<Keys, 'access_key'>): Readonly<Record<string, string>> {
  return accessKey === null ? {} : { [accessKeyScope]: accessKey }
}

/** What is kept of the keys of a user: null where there are none. */
interface Keys {
  readonly access_key?: string | null
  readonly [sealedSecret]: string | null
  readonly [TIME_TO_LIVE]?: null
  readonly [EXPIRY]: number | null
}

/** The draft of a new user, with the keys that it gives or new ones. What is revealed is for the one answer that shows them. */
export async function withKeys(cluster: Cluster, draft: NewOf<typeof USERS>) {
  const { access_key: given, secret_key: secret, ...rest } = draft
  if ((given === undefined) !== (secret === undefined)) {
    throw failure('accessKeyIncomplete')
  }
  const pair = given === undefined || secret === undefined ? undefined : { given, secret }
  if (pair !== undefined && (await cluster.catalog.holder(accessKeyScope, pair.given)) !== undefined) {
    throw failure('accessKeyTaken')
  }
  const { keys, reveal } = newKeys(cluster, rest[TIME_TO_LIVE], pair)
  return { row: { ...rest, ...keys }, reveal }
}

const keyArgs = {
  regenerate_keys: {
    doc: 'Whether to replace the keys of the user, as with the field of the same name.',
    kind: flag(),
    default: false,
  },
  delete_keys: {
    doc: 'Whether to remove the keys of the user, as with the field of the same name.',
    kind: flag(),
    default: false,
  },
} as const satisfies Fields

/** Changes a user; the body or the query may ask for other keys or for none. */
export const modifyUser = inline({
  args: keyArgs,
  plan(cluster, { row, draft, args }: Changing<typeof USERS, typeof keyArgs>) {
    const { regenerate_keys: renew, delete_keys: drop, ...rest } = draft
    const isRenewed = renew === true || args.regenerate_keys
    const isDropped = drop === true || args.delete_keys
    if (isRenewed && isDropped) throw failure('accessKeyConflict')
    if (!isRenewed && rest[TIME_TO_LIVE] !== undefined && rest[TIME_TO_LIVE] !== (row[TIME_TO_LIVE] ?? null)) {
      throw failure('accessKeyLifetimeAlone')
    }
    const key = `${row['svm.uuid']}/${row['name']}`
    const made = isRenewed ? newKeys(cluster, rest[TIME_TO_LIVE]) : { keys: isDropped ? NO_KEYS : {}, reveal: {} }
    return Promise.resolve({
      key,
      input: { ...rest, ...made.keys },
      reveal: made.reveal,
      locks: [`${USERS}:${key}`],
    })
  },
  step: {
    name: 'write record',
    async run(cluster, { key, input }) {
      const record = await cluster.record(USERS, key)
      if (record === undefined) throw failure('objectStoreUserNotFound')
      const row = changedBy(record.body, input)
      await cluster.commit([cluster.put(USERS, row, { expect: record.revision, unique: uniqueKey(row) })])
    },
  },
})

const NO_KEYS: Keys = { access_key: null, [sealedSecret]: null, [TIME_TO_LIVE]: null, [EXPIRY]: null }

function newKeys(
  cluster: Cluster,
  seconds: number | undefined,
  pair?: { readonly given: string; readonly secret: string },
): { readonly keys: Keys; readonly reveal: DraftOf<typeof USERS> } {
  const accessKey = pair?.given ?? makeAccessKey(cluster)
  const secretKey = pair?.secret ?? cluster.system.random.bytes(SECRET_BYTES).toString('base64url')
  // A change may say null, which is no time to live as zero is.
  const livesMs = (seconds ?? 0) * 1000
  const lives = livesMs === 0 ? { [TIME_TO_LIVE]: null, [EXPIRY]: null } : { [EXPIRY]: cluster.now() + livesMs }
  return {
    keys: { ...lives, access_key: accessKey, [sealedSecret]: cluster.secrets.seal(secretKey) },
    reveal: { access_key: accessKey, secret_key: secretKey },
  }
}

function makeAccessKey(cluster: Cluster): string {
  const bytes = cluster.system.random.bytes(ACCESS_KEY_CHARACTERS)
  return Array.from(bytes, (byte) => LETTERS.charAt(byte % LETTERS.length)).join('')
}
