/**
 * `holdfast replay`: sends the requests of a trace to a cluster, one after the other, and tells where the answers have
 * another status than the recorded ones. A job that an answer names is waited for, as the client may have done.
 */
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Replay } from '../src/faces/rest/replay.ts'
import type { TraceEntry } from '../src/faces/rest/trace.ts'
import { clientOf, readClientFlags, tell } from './client.ts'
import { SettingsError } from './settings.ts'

/** Gives the exit code: 0 when every answer has the status that was recorded. */
export async function replayCommand(
  environment: NodeJS.ProcessEnv,
  flags: readonly string[],
  folder: string,
): Promise<number> {
  const given = readClientFlags(flags, 'Name one trace.')
  const { file } = given
  const client = clientOf(environment, given)
  const replay = new Replay()
  const counts = { same: 0, others: 0 }
  try {
    let number = 0
    for await (const line of createInterface({ input: createReadStream(resolve(folder, file)) })) {
      number++
      if (line.trim() === '') continue
      const entry = readEntry(line, `${file}:${number}`)
      const asked = replay.request(entry)
      const answer = await client.send(asked, entry.status !== 401)
      replay.learn(entry.answer, answer.body)
      await client.jobOf(answer)
      if (answer.status === entry.status) counts.same++
      else {
        counts.others++
        process.stdout.write(
          `${file}:${number}: ${asked.method} ${asked.target}: ${entry.status}, now ${tell(answer)}\n`,
        )
      }
    }
  } catch (failure) {
    if (failure instanceof SettingsError) throw failure
    throw new SettingsError(`The replay ended early: ${(failure as Error).message}`)
  } finally {
    client.close()
  }
  process.stdout.write(`${counts.same} answered as recorded, ${counts.others} otherwise.\n`)
  return counts.others === 0 ? 0 : 1
}

function readEntry(line: string, place: string): TraceEntry {
  try {
    const entry = JSON.parse(line) as TraceEntry
    if (typeof entry.method === 'string' && typeof entry.target === 'string' && typeof entry.status === 'number')
      return entry
  } catch {
    // Told below, like everything else that is no entry.
  }
  throw new SettingsError(`${place}: It is no line of a trace.`)
}
