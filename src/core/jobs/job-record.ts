import type { NoteTypes, RowOf } from '../../model/rows.ts'
import type { Row } from '../../model/value.ts'
import type { Failure } from '../../model/failure.ts'

/** The type of the records of jobs. */
export const JOBS = 'cluster/jobs'

export type Job = RowOf<typeof JOBS>

/** What a job keeps for those who run it. */
export type JobNotes = NoteTypes[typeof JOBS]

/** Verbs of many records of any resource. */
export type OtherVerbName = `bulk ${'create' | 'modify' | 'remove'}`

/** What may be asked of a job. */
export const JOB_ACTIONS = ['cancel', 'pause', 'resume'] as const
export type JobAction = (typeof JOB_ACTIONS)[number]

declare module '../../model/rows.ts' {
  interface NoteTypes {
    readonly 'cluster/jobs': {
      /** The resource and the verb, or the name of an action; the record that it is about, and what the plan tells the steps. */
      readonly $type: string
      readonly $verb: string
      readonly $key: string
      readonly $input: Row
      readonly $locks: readonly string[]
      /** What steps noted. */
      readonly $memo: Row
      /** The step it is in, and whether it does or undoes it. -1: none was begun. */
      readonly $at: number
      readonly $direction: 'forward' | 'back'
      /** The names of its steps. Jobs of earlier releases have none. */
      readonly $steps?: readonly string[]
      /** What may be asked of it in this step. */
      readonly $allows?: readonly JobAction[]
      /** What it says when it succeeds, where its steps have said so. */
      readonly $conclusion?: string
      readonly $failure?: {
        readonly code: number
        readonly kind: Failure['kind']
        readonly message: string
        readonly target: string | null
      }
      readonly $user: string
      readonly $from: string
    }
  }
}

export function isActive({ state }: Pick<Job, 'state'>): boolean {
  return state === 'queued' || state === 'running' || state === 'paused'
}
