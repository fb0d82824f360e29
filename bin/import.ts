/** `holdfast import`: sends a seed file to a running cluster, which is then as a start with that file would make it. */
import { resolve } from 'node:path'
import { isRecord } from '../src/model/value.ts'
import { clientOf, readClientFlags, tell } from './client.ts'
import { readSeedFile, tellSeeded } from './seed.ts'
import { SettingsError } from './settings.ts'

/** All records of a file are made in one answer. */
const ANSWER_MS_MAX = 3_600_000

export async function importCommand(
  environment: NodeJS.ProcessEnv,
  flags: readonly string[],
  folder: string,
): Promise<void> {
  const given = readClientFlags(flags, 'Name one seed file.')
  const { text } = readSeedFile(resolve(folder, given.file))
  const client = clientOf(environment, given, ANSWER_MS_MAX)
  try {
    const answer = await client.send(
      {
        method: 'POST',
        target: '/api/private/imports',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ file: given.file, text }),
      },
      true,
    )
    const [record] = isRecord(answer.body) ? ((answer.body['records'] ?? []) as unknown as readonly Imported[]) : []
    if (answer.status !== 201 || record === undefined) throw new SettingsError(`Not imported: ${tell(answer)}`)
    const { made, changed, same, revealed = [] } = record
    const shown = revealed.map(({ record: title, field, value }) => ({ title, fields: { [field]: value } }))
    process.stdout.write(tellSeeded({ made, changed, same, revealed: shown }))
  } catch (failure) {
    if (failure instanceof SettingsError) throw failure
    throw new SettingsError(`The cluster cannot be reached: ${(failure as Error).message}`)
  } finally {
    client.close()
  }
}

interface Imported {
  readonly made: number
  readonly changed: number
  readonly same: number
  readonly revealed?: readonly { readonly record: string; readonly field: string; readonly value: string }[]
}
