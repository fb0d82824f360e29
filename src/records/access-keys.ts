/** Keys of users of the object store, as they are kept with their user. */
import type { NotesOfNamed } from './namesakes.ts'

/** The scope in which access keys lead to their users: they are unique in the cluster. */
export const accessKeyScope = 's3:access-key'

/** The secret key, sealed. */
export const sealedSecret = '$secret'

declare module '../model/rows.ts' {
  interface NoteTypes {
    readonly 'protocols/s3/services/{svm.uuid}/users': NotesOfNamed & { readonly [sealedSecret]?: string }
  }
}
