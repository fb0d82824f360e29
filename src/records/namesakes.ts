/**
 * When names came to mean whom they mean. Policies and groups name users and groups, and names are free again when their
 * bearer is deleted.
 */

/** Of a user or group that took a name which another had: the revision at which that one gave it up. */
export const meantSince = '$meantSince'
/** Of what names users or groups: the revision at which the names were set. Without it, before all others. */
export const namesAt = '$namesAt'

export type NotesOfNamed = { readonly [meantSince]?: number }
export type NotesOfNaming = { readonly [namesAt]?: number }

declare module '../model/rows.ts' {
  interface NoteTypes {
    readonly 'protocols/s3/services/{svm.uuid}/groups': NotesOfNamed & NotesOfNaming
    readonly 'protocols/s3/services/{svm.uuid}/policies': NotesOfNaming
  }
}
