/**
 * The key of the cluster in its file, and what the catalog knows of it. A key that does not fit would turn every secret of
 * the catalog into noise, and a new one would do so silently: only a cluster without any history gets one made.
 */
import { type KeyFileSecrets, KeyFileFailure, makeSecrets, openSecrets, readSecrets } from '../src/engines/secrets.ts'
import { textOf } from '../src/model/value.ts'
import type { Commits, Records } from '../src/ports/catalog.ts'

const RECORD = ['internal/key', 'cluster'] as const
/** What is digested to know the key by. */
const SAMPLE = 'the key of this cluster'

export async function openClusterKey(file: string, catalog: Records & Commits): Promise<KeyFileSecrets> {
  const known = await catalog.record(...RECORD)
  const isNew = known === undefined && (await catalog.records('cluster')).length === 0
  const secrets = isNew ? ((await readSecrets(file)) ?? (await makeSecrets(file))) : await openSecrets(file)
  const digest = secrets.digest(SAMPLE)
  if (known === undefined) {
    await catalog.commit([{ do: 'put-record', type: RECORD[0], key: RECORD[1], body: { digest } }])
  } else if (!secrets.isEqual(digest, textOf(known.body['digest']))) {
    throw new KeyFileFailure(
      `The cluster key ${file} is not the one that this catalog was written with. Put the right key back from a copy.`,
    )
  }
  return secrets
}
