/** Making and deleting buckets for clients of the data plane: the same verbs as those of the management interface. */
import type { Actions } from '../../../core/perform.ts'
import type { Caller } from '../../../core/verb.ts'
import { Failure } from '../../../model/failure.ts'
import { completeDraft } from '../../../model/shape.ts'
import type { Fields } from '../../../ports/catalog.ts'
import { BUCKET_BYTES_DEFAULT } from './bucket-fields.ts'
import { createBucket, modifyBucketOfClient } from './bucket-verbs.ts'
import { BUCKETS } from './types.ts'

export type BucketOutcome = 'done' | 'exists' | 'too-many' | 'no-room' | 'missing' | 'not-empty' | 'refused'

interface From {
  readonly user: string
  readonly svm: string
}

export function bucketActions(actions: Actions) {
  const { cluster } = actions
  // In a data volume of the server: a client waits for no job.
  const behaviour = { ...cluster.behaviour(BUCKETS), create: createBucket, modify: modifyBucketOfClient }
  return {
    /** The bucket lands in the data volume with most room. */
    createBucket(of: {
      svm: string
      server: string
      name: string
      caller: From
      fields?: Fields
    }): Promise<BucketOutcome> {
      const draft = { 'svm.uuid': of.svm, name: of.name, size: BUCKET_BYTES_DEFAULT, ...of.fields }
      return outcomeOf(() =>
        actions.perform(behaviour, 'create', {
          caller: callerOf(of.caller),
          draft: { ...completeDraft(behaviour.resource, draft), 'server.uuid': of.server },
          path: {},
          args: {},
          description: `S3 CreateBucket ${of.name}`,
        }),
      )
    },

    /** Of several at once each holds: what one changes, another that changes something else does not take back. */
    async configureBucket(of: {
      bucket: string
      fields: Fields
      operation: string
      caller: From
    }): Promise<BucketOutcome> {
      const row = await cluster.find(BUCKETS, of.bucket)
      if (row === undefined) return 'missing'
      return outcomeOf(() =>
        actions.perform(behaviour, 'modify', {
          caller: callerOf(of.caller),
          row,
          draft: of.fields,
          path: {},
          args: {},
          description: `S3 ${of.operation} ${row['name']}`,
        }),
      )
    },

    async versionBucket(of: { bucket: string; state: 'enabled' | 'suspended'; caller: From }): Promise<BucketOutcome> {
      const row = await cluster.find(BUCKETS, of.bucket)
      if (row === undefined) return 'missing'
      if (row['versioning_state'] === of.state) return 'done'
      return outcomeOf(() =>
        actions.perform(behaviour, 'modify', {
          caller: callerOf(of.caller),
          row,
          draft: { versioning_state: of.state },
          path: {},
          args: {},
          description: `S3 PutBucketVersioning ${of.bucket}`,
        }),
      )
    },

    async deleteBucket(of: { svm: string; bucket: string; caller: From }): Promise<BucketOutcome> {
      const row = await cluster.find(BUCKETS, of.bucket)
      if (row === undefined) return 'missing'
      return outcomeOf(() =>
        actions.perform(behaviour, 'remove', {
          caller: callerOf(of.caller),
          row,
          draft: {},
          path: {},
          args: {},
          description: `S3 DeleteBucket ${of.bucket}`,
        }),
      )
    },
  }
}

function callerOf({ user, svm }: From): Caller {
  return { user: user === '' ? 'anonymous' : user, role: 'object store user', from: `S3 of SVM ${svm}` }
}

async function outcomeOf(act: () => Promise<unknown>): Promise<BucketOutcome> {
  try {
    await act()
    return 'done'
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure
    if (failure.is('bucketNameTaken')) return 'exists'
    if (failure.is('bucketLimitReached')) return 'too-many'
    if (failure.is('dataVolumesFull')) return 'no-room'
    if (failure.is('bucketNotEmpty')) return 'not-empty'
    if (failure.kind === 'not-found') return 'missing'
    // A name that another request has just taken is refused by the commit itself.
    if (failure.kind === 'conflict' && failure.target === 'name') return 'exists'
    // What was judged by another state of the bucket than it is in now; everything else was judged before.
    if (failure.kind === 'conflict' || failure.kind === 'invalid') return 'refused'
    throw failure
  }
}
