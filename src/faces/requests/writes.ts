/** Verbs on one record, in the name of whoever was let in: what is given is parsed, the verb is called, its job waited for. */
import { failureOf, isActive } from '../../core/jobs/jobs.ts'
import type { Performed } from '../../core/perform.ts'
import { findInstance, insistOnParents } from '../../core/read/read.ts'
import { failure } from '../../model/failure.ts'
import type { Filter } from '../../model/query.ts'
import type { Row } from '../../model/value.ts'
import type { Admission } from './admission.ts'
import { changesNothing, changesOf, newDraft } from './drafts.ts'

/** How a write is done, whatever it writes. */
export interface Manner {
  /** Arguments that the verb declares. */
  readonly args: Row
  /** How long its job is waited for. */
  readonly waitSeconds: number
}

export interface Written {
  readonly performed: Performed
  /** Whether nothing of it is still under way. */
  readonly isDone: boolean
}

export async function createRecord(
  admission: Admission,
  given: unknown,
  manner: Manner & { readonly bucketSizeBytes: number },
): Promise<Written> {
  const { cluster, behaviour, match } = admission
  await insistOnParents(cluster, behaviour, match.pathValues)
  const draft = newDraft(admission, given, manner.bucketSizeBytes)
  return settled(admission, await admission.perform('create', { draft, args: manner.args }), manner)
}

/** Changes or removes a record that passes the filters. Nothing where what is given changes nothing. */
export async function changeRecord(
  admission: Admission,
  verb: 'modify' | 'remove',
  given: unknown,
  manner: Manner & { readonly filters: readonly Filter[] },
): Promise<Written | undefined> {
  const { cluster, behaviour, match, resource } = admission
  const { args, filters } = manner
  const row = await findInstance(cluster, behaviour, match.pathValues, match.instance)
  if (row === undefined) throw failure('recordNotFound', { noun: resource.noun }, { target: resource.key[0] })
  await admission.insistOn(row, filters)
  const draft = verb === 'modify' ? await changesOf(admission, given, row) : {}
  // Tools send what they found different, which may be nothing that is here: there is nothing to do, and no job to run.
  if (verb === 'modify' && changesNothing(draft, args)) return undefined
  return settled(admission, await admission.perform(verb, { draft, row, args }), manner)
}

/** Fails as the job did. */
async function settled(admission: Admission, performed: Performed, { waitSeconds }: Manner): Promise<Written> {
  const { job } = performed
  if (job === undefined) return { performed, isDone: true }
  const ended = await admission.actions.jobs.wait(job['uuid'], waitSeconds * 1000)
  if (ended['state'] === 'failure') throw failureOf(ended)
  return { performed, isDone: !isActive(ended) }
}
