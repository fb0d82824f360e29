/**
 * The keys of users of the object store: made, made anew, taken away. A user has one pair or none; the secret is shown in
 * the answer that made it, and kept sealed. Keys with a time to live are of no use after it; they stay until others come.
 */
import type { Cluster } from '../../../../core/cluster.ts'
import { type Acting, action } from '../../../../core/action.ts'
import { type Changing, inline, type Plan, type Step } from '../../../../core/verb.ts'
import { failure } from '../../../../model/failure.ts'
import { duration, flag, text, time } from '../../../../model/kinds/index.ts'
import type { Fields } from '../../../../model/resource.ts'
import type { DraftOf, NewOf, RowOf } from '../../../../model/rows.ts'
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
    doc: 'Whether to replace the keys of the user. The old keys become invalid immediately.',
    kind: flag(),
    set: 'modify',
  },
  delete_keys: {
    doc: 'Whether to remove the keys of the user. The user cannot sign requests until the keys are regenerated.',
    kind: flag(),
    set: 'modify',
  },
} as const satisfies Fields

export function uniqueKey({
  access_key: accessKey = null,
}: Pick<Keys, 'access_key'>): Readonly<Record<string, string>> {
  return accessKey === null ? {} : { [accessKeyScope]: accessKey }
}

/** What is kept of the keys of a user: null where there are none. */
type Keys = {
  readonly access_key?: string | null
  readonly [sealedSecret]: string | null
  readonly [TIME_TO_LIVE]?: null
  readonly [EXPIRY]: number | null
}

/** The draft of a new user, with the keys that it gives or new ones. What is revealed is for the one answer that shows them. */
export async function withKeys(cluster: Cluster, draft: NewOf<typeof USERS>) {
  const { secret_key: secret, ...rest } = draft
  const given = draft.access_key
  if ((given === undefined) !== (secret === undefined)) {
    throw failure('accessKeyIncomplete')
  }
  const pair = given === undefined || secret === undefined ? undefined : { given, secret }
  if (pair !== undefined && (await cluster.catalog.holder(accessKeyScope, pair.given)) !== undefined) {
    throw failure('accessKeyTaken')
  }
  const { keys, reveal } = newKeys(cluster, rest[TIME_TO_LIVE], pair)
  return { row: changedBy(rest, keys), reveal }
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

/** What a change of a user writes; null takes a value away. */
type Change = Partial<Omit<Keys, typeof TIME_TO_LIVE>> & {
  readonly comment?: string | null
  readonly [TIME_TO_LIVE]?: number | null
}

const writeUser: Step<Change> = {
  name: 'write record',
  async run(cluster, { key, input }) {
    const record = await cluster.record(USERS, key)
    if (record === undefined) throw failure('objectStoreUserNotFound')
    const row = changedBy(record.body, input)
    await cluster.commit([cluster.put(USERS, row, { expect: record.revision, unique: uniqueKey(row) })])
  },
}

function about(row: RowOf<typeof USERS>) {
  const key = `${row['svm.uuid']}/${row['name']}`
  return { key, locks: [`${USERS}:${key}`] }
}

/** Changes a user; the body or the query may also ask for other keys or for none. */
export const modifyUser = inline({
  args: keyArgs,
  plan(_cluster, { row, draft }: Changing<typeof USERS, typeof keyArgs>): Promise<Plan<Change>> {
    if (draft[TIME_TO_LIVE] !== undefined && draft[TIME_TO_LIVE] !== (row[TIME_TO_LIVE] ?? null)) {
      throw failure('accessKeyLifetimeAlone')
    }
    return Promise.resolve({ ...about(row), input: draft })
  },
  step: writeUser,
})

const renewalArgs = {
  time_to_live: {
    doc: 'How long the new keys are valid, as an ISO 8601 duration such as PT6H or P90D. Default, and with PT0S: the keys do not expire.',
    kind: duration(),
  },
} as const satisfies Fields

/** They write the record as a change does, so that both are one commit. */
export const keyActions = {
  regenerate_keys: action({
    doc: 'Replaces the keys of the user, and shows the new ones. The old keys become invalid immediately.',
    danger: 'disruptive',
    args: renewalArgs,
    example: { time_to_live: 'PT6H' },
    spelled: {
      asks: { regenerate_keys: [true] },
      args: { time_to_live: TIME_TO_LIVE },
      excludes: { delete_keys: () => failure('accessKeyConflict') },
    },
    plan(cluster, { row, args }: Acting<typeof USERS, typeof renewalArgs>): Promise<Plan<Change>> {
      const lifetime = args.time_to_live
      const { keys, reveal } = newKeys(cluster, lifetime)
      const input = { ...(lifetime === undefined ? {} : { [TIME_TO_LIVE]: lifetime }), ...keys }
      return Promise.resolve({ ...about(row), input, reveal })
    },
    step: writeUser,
  }),
  delete_keys: action({
    doc: 'Removes the keys of the user. The user cannot sign requests until the keys are regenerated.',
    danger: 'disruptive',
    example: {},
    spelled: { asks: { delete_keys: [true] } },
    plan: (_cluster, { row }: Acting<typeof USERS>): Promise<Plan<Change>> =>
      Promise.resolve({ ...about(row), input: NO_KEYS }),
    step: writeUser,
  }),
}

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
