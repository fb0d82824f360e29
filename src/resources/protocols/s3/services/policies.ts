import { type Behaviour, define } from '../../../../core/behaviour.ts'
import { plainVerbs } from '../../../../core/plain.ts'
import type { Verb, VerbRequest, WithArguments } from '../../../../core/verb.ts'
import { failure } from '../../../../model/failure.ts'
import { flag, name, text } from '../../../../model/kinds/index.ts'
import { resource } from '../../../../model/resource.ts'
import { checkPolicyStatements } from '../statement-checks.ts'
import { statementsKind } from '../statements.ts'
import { POLICIES } from './builtin-policies.ts'
import { namesSetNow } from './namesakes.ts'

const plain = plainVerbs(POLICIES, {
  example: {
    name: 'policy_example',
    statements: [{ effect: 'allow', actions: ['GetObject', 'ListBucket'], resources: ['papers', 'papers/*'] }],
  },
  check(_cluster, row) {
    checkPolicyStatements(row['statements'])
    return { statements: [], ...row }
  },
})

const policiesResource = resource({
  path: '/protocols/s3/services/{svm.uuid}/policies',
  noun: 'object store policy',
  doc: 'Object store policies are named lists of statements. They apply to the users of groups, and to servers and buckets, that name them.',
  key: ['name'],
  recordKey: ['svm.uuid', 'name'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  columns: ['name', 'svm.name', 'read-only', 'comment'],
  form: { Policy: ['name', 'svm.name', 'comment', 'statements'] },
  removal: 'disruptive',
  fields: {
    name: { doc: 'The name of the policy.', kind: name({ charactersMax: 128 }), set: 'create', required: true },
    svm: { doc: 'The SVM that owns the policy.', ref: 'svm/svms', set: 'create', required: true },
    comment: { doc: 'A comment that describes the policy.', kind: text({ charactersMax: 256 }), set: 'always' },
    'read-only': { doc: 'Whether the policy comes with the product and cannot be changed.', kind: flag() },
    statements: {
      doc: 'The statements of the policy, in order.',
      kind: statementsKind(),
      set: 'always',
    },
  },
})

export const policies: Behaviour<typeof policiesResource> = define(policiesResource, {
  create: stamped(plain.create),
  modify: stamped(notBuiltin(plain.modify)),
  remove: notBuiltin(plain.remove),
})

/** Notes when statements were set: users who took a name later are not meant by it. */
function stamped(verb: Verb): Verb {
  return {
    ...verb,
    async plan(cluster, request: VerbRequest & WithArguments) {
      if (request.draft['statements'] === undefined) return verb.plan(cluster, request)
      return verb.plan(cluster, { ...request, draft: { ...request.draft, ...(await namesSetNow(cluster)) } })
    },
  }
}

function notBuiltin(verb: Verb): Verb {
  return {
    ...verb,
    plan(cluster, request: VerbRequest & WithArguments) {
      if (request.row?.['read-only'] === true) throw failure('objectStorePolicyReadOnly')
      return verb.plan(cluster, request)
    },
  }
}
