import { type Behaviour, define } from '../../../../core/behaviour.ts'
import type { Cluster } from '../../../../core/cluster.ts'
import { inline, type Verb, type VerbRequest } from '../../../../core/verb.ts'
import { failure } from '../../../../model/failure.ts'
import { text } from '../../../../model/kinds/index.ts'
import { resource } from '../../../../model/resource.ts'
import { type Row, textAt } from '../../../../model/value.ts'
import { CIFS_SHARES } from '../shares.ts'
import { aclFields, isSameWho, settledAcls } from './acl-list.ts'

const shareAclsResource = resource({
  path: `/${CIFS_SHARES}/{svm.uuid}/{share}/acls`,
  noun: 'ACL of the share',
  doc: 'The access control list of a CIFS share. The field `acls` of the share shows it too.',
  key: ['user_or_group', 'type'],
  rowsOf: CIFS_SHARES,
  nameWithin: false,
  fields: {
    svm: { doc: 'The SVM of the share.', ref: 'svm/svms' },
    share: { doc: 'The name of the share.', kind: text() },
    ...aclFields,
  },
})

export const shareAcls: Behaviour<typeof shareAclsResource> = define(shareAclsResource, {
  async rows(cluster, path) {
    const share = await shareAt(cluster, path)
    const of = { share: share['name'] ?? null, 'svm.uuid': share['svm.uuid'] ?? null }
    return aclsOf(share).map((acl) => Object.assign({}, acl, of))
  },
  create: changing({ user_or_group: 'EXAMPLE\\anna', permission: 'read' }, ({ draft }, acls) => [
    ...acls,
    entry(draft),
  ]),
  modify: changing({ permission: 'change' }, ({ draft, row = {} }, acls) =>
    acls.map((acl) => (isSameWho(acl, row) ? { ...acl, ...draft } : acl)),
  ),
  remove: changing({}, ({ row = {} }, acls) => acls.filter((acl) => !isSameWho(acl, row))),
})

/** A verb that makes other entries of those that the share has. */
function changing(example: Row, change: (request: VerbRequest, acls: readonly Row[]) => readonly Row[]): Verb {
  return inline({
    example,
    alone: ({ path }) => [`${CIFS_SHARES}:${keyOf(path)}`],
    async plan(cluster, request) {
      const share = await shareAt(cluster, request.path)
      const acls = settledAcls(change(request, aclsOf(share)))
      const who = { ...request.row, ...request.draft }
      return {
        key: `${textAt(who, 'user_or_group')}/${textAt(who, 'type')}`,
        input: { share: keyOf(request.path), acls },
      }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        const record = await cluster.record(CIFS_SHARES, input['share'])
        if (record === undefined) throw failure('shareNotFound')
        const unique = { [`${CIFS_SHARES}:folded`]: input['share'].toLowerCase() }
        const row: Row = { ...record.body, acls: input['acls'] ?? [] }
        await cluster.commit([cluster.put(CIFS_SHARES, row, { expect: record.revision, unique })])
      },
    },
  })
}

async function shareAt(cluster: Cluster, path: Readonly<Record<string, string>>): Promise<Row> {
  const share = await cluster.find(CIFS_SHARES, keyOf(path))
  if (share === undefined) throw failure('shareNotFound')
  return share
}

function keyOf(path: Readonly<Record<string, string>>): string {
  return `${path['svm.uuid'] ?? ''}/${path['share'] ?? ''}`
}

function aclsOf(share: Row): readonly Row[] {
  return (share['acls'] ?? []) as readonly Row[]
}

function entry(draft: Row): Row {
  return Object.fromEntries(Object.keys(aclFields).map((name) => [name, draft[name] ?? null]))
}
