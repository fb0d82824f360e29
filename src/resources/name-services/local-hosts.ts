import { type Behaviour, define } from '../../core/behaviour.ts'
import { inline } from '../../core/verb.ts'
import { plainModify, plainRemove } from '../../core/plain.ts'
import { failure } from '../../model/failure.ts'
import { address, list, text } from '../../model/kinds/index.ts'
import { groups, resource } from '../../model/resource.ts'
import { ownerFields, ownerNamed, ownerNames } from '../security/owners.ts'

export const LOCAL_HOSTS = 'name-services/local-hosts'

/** Host names of all owners. */
const HOSTS_MAX = 10_000
const ALIASES_MAX = 8

const hostName = () =>
  text({
    charactersMin: 1,
    charactersMax: 255,
    pattern: /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/,
    patternDoc: 'letters, digits, ".", "-" and "_"',
  })

const localHostsResource = resource({
  path: `/${LOCAL_HOSTS}`,
  noun: 'local host',
  doc: 'Local host entries of SVMs and the cluster. Stored without effect: no names are looked up yet.',
  since: '9.10.1',
  key: ['owner.uuid', 'address'],
  recordKey: ['owner.uuid', 'address'],
  parent: 'owner.uuid',
  parentType: 'svm/svms',
  nameWithin: false,
  fields: {
    address: { doc: 'The IP address of the host.', kind: address(), set: 'create', required: true },
    hostname: { doc: 'The canonical name of the host.', kind: hostName(), set: 'always', required: true },
    aliases: {
      doc: 'Other names of the host.',
      kind: list(hostName(), { elementsMax: ALIASES_MAX }),
      set: 'always',
    },
    ...groups({ owner: 'The SVM or the cluster that knows the host.' }),
    ...ownerFields,
  },
})

export const localHosts: Behaviour<typeof localHostsResource> = define(localHostsResource, {
  derive: [ownerNames],
  create: inline({
    example: { address: '192.0.2.9', hostname: 'host.example.com' },
    async plan(cluster, { draft }) {
      const owner = await ownerNamed(cluster, draft['owner.name'])
      const key = `${owner.uuid}/${draft['address']}`
      if ((await cluster.find(LOCAL_HOSTS, key)) !== undefined) {
        throw failure('localHostTaken')
      }
      if ((await cluster.rows(LOCAL_HOSTS)).length >= HOSTS_MAX) {
        throw failure('clusterLimitReached', { max: HOSTS_MAX, things: 'local hosts' })
      }
      const { 'owner.name': _name, ...given } = draft
      return { key, input: { ...given, 'owner.uuid': owner.uuid, scope: owner.scope } }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        await cluster.commit([cluster.put(LOCAL_HOSTS, input, { expect: 'absent' })])
      },
    },
  }),
  modify: { ...plainModify(LOCAL_HOSTS), example: { hostname: 'renamed.example.com' } },
  remove: plainRemove(LOCAL_HOSTS),
})
