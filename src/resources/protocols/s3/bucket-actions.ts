/** Making and deleting buckets for clients of the data plane: the same verbs as those of the management interface. */
import type { Actions } from '../../../core/perform.ts'
import type { Caller } from '../../../core/verb.ts'
import { completeDraft } from '../../../model/shape.ts'
import { findInstance } from '../../../core/read.ts'
import { failures } from '../../../model/failure.ts'
import { BUCKETS } from './types.ts'

/** 10 TB: the specification, section 8. */
const BUCKET_BYTES_DEFAULT = 10 * 2 ** 40

export interface BucketRequest {
  readonly svm: string
  readonly server: string
  readonly name: string
  readonly caller: Caller
}

export function bucketActions(actions: Actions) {
  const behaviour = actions.cluster.behaviour(BUCKETS)
  return {
    /** Lands in the data volume with most room. Gives the UUID. */
    async create({ svm, server, name, caller }: BucketRequest): Promise<string> {
      const draft = {
        'svm.uuid': svm,
        name: behaviour.resource.fields.get('name')?.kind.parse(name) ?? name,
        size: BUCKET_BYTES_DEFAULT,
      }
      const performed = await actions.perform(behaviour, 'create', {
        caller,
        draft: { ...completeDraft(behaviour.resource, draft), 'server.uuid': server },
        path: {},
        args: {},
        description: `S3 CreateBucket ${name}`,
      })
      return performed.key
    },

    async remove({ svm, name, caller }: Omit<BucketRequest, 'server'>): Promise<void> {
      const uuid = await actions.cluster.keyOfName(BUCKETS, name, svm)
      const row = uuid === undefined ? undefined : await findInstance(actions.cluster, behaviour, {}, [svm, uuid])
      if (row === undefined) throw failures.notFound('bucket', 'name')
      await actions.perform(behaviour, 'remove', {
        caller,
        row,
        draft: {},
        path: {},
        args: {},
        description: `S3 DeleteBucket ${name}`,
      })
    },
  }
}
