import { type Behaviour, define } from '../../../../core/behaviour.ts'
import type { Cluster } from '../../../../core/cluster.ts'
import { type ChangeRequest, inline, type VerbRequest } from '../../../../core/verb.ts'
import { failure } from '../../../../model/failure.ts'
import { text } from '../../../../model/kinds/index.ts'
import { resource } from '../../../../model/resource.ts'
import type { DraftIn, NewDraftIn, RowIn, RowOf } from '../../../../model/rows.ts'
import { CIFS_SHARES } from '../shares.ts'
import { type Acl, aclFields, isSameWho, settledAcls } from './acl-list.ts'

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
    const of = { share: share['name'], 'svm.uuid': share['svm.uuid'] }
    return aclsOf(share).map((acl) => Object.assign({}, acl, of))
  },
  create: changing({ user_or_group: 'EXAMPLE\\anna', permission: 'read' }, ({ draft }: Making, acls) => {
    const { user_or_group, type = 'windows', permission } = draft
    return { who: draft, acls: [...acls, { user_or_group, type, permission }] }
  }),
  modify: changing({ permission: 'change' }, ({ draft, row }: Changing, acls) => ({
    who: row,
    acls: acls.map((acl) => (isSameWho(acl, row) ? { ...acl, ...draft } : acl)),
  })),
  remove: changing({}, ({ row }: Changing, acls) => ({ who: row, acls: acls.filter((acl) => !isSameWho(acl, row)) })),
})

type ShareAcls = typeof shareAclsResource
type Making = VerbRequest<RowIn<ShareAcls>, NewDraftIn<ShareAcls>>
type Changing = ChangeRequest<RowIn<ShareAcls>, DraftIn<ShareAcls>>

/** What a request makes of the list, and whose entry it is about. */
interface Changed {
  readonly who: Pick<Acl, 'user_or_group' | 'type'>
  readonly acls: readonly Acl[]
}

/** A verb that makes other entries of those that the share has. */
function changing<Request extends VerbRequest>(
  example: Readonly<Record<string, unknown>>,
  change: (request: Request, acls: readonly Acl[]) => Changed,
) {
  return inline({
    example,
    alone: ({ path }: Request) => [
      { lock: `${CIFS_SHARES}:${keyOf(path)}`, record: { type: CIFS_SHARES, key: keyOf(path) } },
    ],
    async plan(cluster, request: Request) {
      const share = await shareAt(cluster, request.path)
      const { who, acls } = change(request, aclsOf(share))
      return {
        key: `${who.user_or_group}/${who.type ?? ''}`,
        input: { share: keyOf(request.path), acls: settledAcls(acls) },
      }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        const record = await cluster.record(CIFS_SHARES, input['share'])
        if (record === undefined) throw failure('shareNotFound')
        const unique = { [`${CIFS_SHARES}:folded`]: input['share'].toLowerCase() }
        const row = { ...record.body, acls: input['acls'] }
        await cluster.commit([cluster.put(CIFS_SHARES, row, { expect: record.revision, unique })])
      },
    },
  })
}

async function shareAt(cluster: Cluster, path: Readonly<Record<string, string>>): Promise<Share> {
  const share = await cluster.find(CIFS_SHARES, keyOf(path))
  if (share === undefined) throw failure('shareNotFound')
  return share
}

function keyOf(path: Readonly<Record<string, string>>): string {
  return `${path['svm.uuid'] ?? ''}/${path['share'] ?? ''}`
}

type Share = RowOf<typeof CIFS_SHARES>

function aclsOf(share: Share): readonly Acl[] {
  return share['acls'] ?? []
}
