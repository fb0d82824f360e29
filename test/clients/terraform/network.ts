import assert from 'node:assert/strict'
import { asText } from '../../support/body.ts'
import { SVM, svmUuid, type Flow } from './flow.ts'
import type { Shape } from '../../support/shape.ts'

const DOMAIN: Shape = {
  ipspace: { name: 'string' },
  mtu: 'int',
  name: 'string',
  ports: [{ name: 'string', node: { name: 'string' }, uuid: 'string' }],
  uuid: 'string',
}

const PORT: Shape = {
  broadcast_domain: { ipspace: { name: 'string' }, name: 'string', uuid: 'string' },
  enabled: 'bool',
  interface_count: 'int',
  lag: {
    active_ports: [{ uuid: 'string' }],
    distribution_policy: 'string',
    member_ports: [{ uuid: 'string' }],
    mode: 'string',
  },
  mac_address: 'string',
  mtu: 'int',
  name: 'string',
  node: { name: 'string', uuid: 'string' },
  rdma_protocols: ['string'],
  reachability: 'string',
  speed: 'int',
  state: 'string',
  type: 'string',
  uuid: 'string',
  vlan: { base_port: { uuid: 'string' }, tag: 'int' },
}
const PORT_FIELDS = [
  'broadcast_domain,enabled,interface_count,lag,mac_address,mtu,name,node,rdma_protocols,reachability,speed,state,type',
  'uuid,vlan',
]

const INTERFACE: Shape = {
  name: 'string',
  scope: 'string',
  uuid: 'string',
  svm: { name: 'string', uuid: 'string' },
  ip: { address: 'string', netmask: 'string' },
  location: {
    home_node: { name: 'string' },
    home_port: { name: 'string', node: { name: 'string' } },
    broadcast_domain: { name: 'string' },
  },
  service_policy: { name: 'string' },
}
const INTERFACE_FIELDS = ['name,svm.name,ip,scope,location,service_policy']

const ROUTE: Shape = {
  destination: { address: 'string', netmask: 'string' },
  uuid: 'string',
  gateway: 'string',
  metric: 'int',
  svm: { name: 'string' },
}
const DNS: Shape = { svm: { name: 'string', uuid: 'string' }, domains: ['string'], servers: ['string'] }

export const networkFlows: readonly Flow[] = [
  {
    resource: 'netapp-ontap_network_ethernet_broadcast_domain',
    what: 'a broadcast domain is made, gets another name and MTU, and goes',
    async run(provider) {
      // Its sources have this slash, so there are two.
      const path = '/network/ethernet/broadcast-domains'
      const body = { ipspace: { name: 'Default' }, mtu: 1500, name: 'tf_domain' }
      const made = await provider.create(path, body, DOMAIN)
      const fields = ['ipspace,mtu,name,ports,uuid']
      const read = await provider.read(path, { ipspace: 'Default', name: 'tf_domain', fields }, DOMAIN)
      assert.deepEqual(read, { ...body, ports: [], uuid: made['uuid'] })
      const own = `${path}/${asText(made['uuid'])}`
      await provider.update(own, { ipspace: {}, mtu: 9000, name: 'tf_domain2' })
      const changed = await provider.read(own, { fields }, DOMAIN)
      assert.deepEqual(changed, { ...read, mtu: 9000, name: 'tf_domain2' })
      await provider.remove(own)
      assert.equal((await provider.list(path, { name: 'tf_domain*', fields }, DOMAIN)).length, 0)
    },
  },
  {
    resource: 'netapp-ontap_network_ethernet_ports',
    what: 'ports are listed, by name, state and type',
    async run(provider) {
      const path = 'network/ethernet/ports/'
      const ports = await provider.list(path, { fields: PORT_FIELDS }, PORT)
      const [port] = ports
      assert.ok(port !== undefined)
      const filters = { name: asText(port['name']), state: asText(port['state']), type: asText(port['type']) }
      assert.deepEqual(await provider.list(path, { ...filters, fields: PORT_FIELDS }, PORT), [port])
      const one = await provider.read(`network/ethernet/ports/${asText(port['uuid'])}`, { fields: PORT_FIELDS }, PORT)
      assert.deepEqual(one, port)
    },
  },
  {
    resource: 'netapp-ontap_network_ip_interface',
    what: 'an interface of an SVM is made on a port of a node, changed, and removed',
    async run(provider) {
      const [port] = await provider.list('network/ethernet/ports/', { fields: PORT_FIELDS }, PORT)
      assert.ok(port !== undefined)
      const [node, name] = [asText(port['node']?.['name']), asText(port['name'])]
      const location = { home_node: { name: node }, home_port: { name, node: { name: node } }, broadcast_domain: {} }
      const svm = { name: SVM }
      const body = { ip: { address: '127.0.0.31', netmask: 8 }, location, name: 'tf_lif', service_policy: {}, svm }
      const made = await provider.create('network/ip/interfaces', body, INTERFACE)
      const query = { scope: 'svm', 'svm.name': SVM, name: 'tf_lif', fields: INTERFACE_FIELDS }
      const read = await provider.read('network/ip/interfaces', query, INTERFACE)
      assert.deepEqual(
        [read['ip'], read['location']?.['home_node'], read['location']?.['home_port'], read['scope']],
        [{ address: '127.0.0.31', netmask: '8' }, { name: node }, { name, node: { name: node } }, 'svm'],
      )
      const own = `network/ip/interfaces/${asText(made['uuid'])}`
      const ip = { address: '127.0.0.32', netmask: 8 }
      await provider.update(own, { ip, location, name: 'tf_lif2', service_policy: {}, svm: {} })
      const changed = await provider.read('network/ip/interfaces', { ...query, name: 'tf_lif2' }, INTERFACE)
      assert.deepEqual(changed['ip'], { address: '127.0.0.32', netmask: '8' })
      await provider.remove(own)
      assert.equal(await provider.find('network/ip/interfaces', { ...query, name: 'tf_lif2' }, INTERFACE), undefined)
    },
  },
  {
    resource: 'netapp-ontap_network_ip_route',
    what: 'a route of an SVM is made with a metric and removed',
    async run(provider) {
      const destination = { address: '10.61.0.0', netmask: '16' }
      const body = { destination, svm: { name: SVM }, gateway: '10.60.0.1', metric: 30 }
      const made = await provider.create('network/ip/routes', body, ROUTE)
      const fields = ['destination,svm.name,gateway,scope,metric']
      const of = { 'destination.address': '10.61.0.0', gateway: '10.60.0.1', 'svm.name': SVM, scope: 'svm' }
      const read = await provider.read('network/ip/routes', { ...of, fields }, ROUTE)
      assert.deepEqual(read, { ...body, uuid: made['uuid'] })
      await provider.remove(`network/ip/routes/${asText(made['uuid'])}`)
      assert.equal(await provider.find('network/ip/routes', { ...of, fields }, ROUTE), undefined)
    },
  },
  {
    resource: 'netapp-ontap_name_services_dns',
    what: 'an SVM gets name servers, and has none again',
    async run(provider) {
      const body = {
        domains: ['tf.example'],
        servers: ['10.9.0.1', '10.9.0.2'],
        svm: { name: SVM },
        skip_config_validation: true,
      }
      const path = 'name-services/dns'
      await provider.create(path, body, DNS)
      const query = { 'svm.name': SVM, fields: ['svm.name,svm.uuid,domains,servers'] }
      const uuid = await svmUuid(provider)
      const read = await provider.read(path, query, DNS)
      assert.deepEqual(read, { svm: { name: SVM, uuid }, domains: body.domains, servers: body.servers })
      await provider.remove(`${path}/${uuid}`)
      assert.equal(await provider.find(path, query, DNS), undefined)
    },
  },
  {
    resource: 'netapp-ontap_name_services_ldap',
    what: 'an SVM looks names up in LDAP, elsewhere, and no more',
    async run(provider) {
      const path = 'name-services/ldap'
      const body = {
        svm: { name: SVM },
        servers: ['10.9.0.1'],
        base_dn: 'dc=tf,dc=example',
        skip_config_validation: true,
      }
      await provider.create(path, body, LDAP)
      const query = { 'svm.name': SVM, fields: LDAP_FIELDS }
      const read = await provider.read(path, query, LDAP)
      assert.deepEqual([read['servers'], read['base_dn'], read['port']], [['10.9.0.1'], 'dc=tf,dc=example', 389])
      const uuid = await svmUuid(provider)
      await provider.update(`${path}/${uuid}`, {
        base_scope: 'onelevel',
        query_timeout: 5,
        skip_config_validation: true,
      })
      const changed = await provider.read(path, query, LDAP)
      assert.deepEqual(changed, { ...read, base_scope: 'onelevel', query_timeout: 5 })
      await provider.remove(`${path}/${uuid}`)
      assert.equal(await provider.find(path, query, LDAP), undefined)
    },
  },
  {
    resource: 'netapp-ontap_name_services_name_mapping',
    what: 'a Windows name is mapped to one of UNIX, to another, and no more',
    async run(provider) {
      const path = 'name-services/name-mappings'
      const body = { svm: { name: SVM }, direction: 'win_unix', index: 1, pattern: 'TF\\\\(.+)', replacement: '\\1' }
      await provider.create(path, body, MAPPING)
      const query = { 'svm.name': SVM, direction: 'win_unix', index: '1', fields: MAPPING_FIELDS }
      const read = await provider.read(path, query, MAPPING)
      const uuid = await svmUuid(provider)
      assert.deepEqual(read, { ...body, svm: { name: SVM, uuid }, client_match: '' })
      const own = `${path}/${uuid}/win_unix/1`
      await provider.update(own, { svm: {}, pattern: 'TF2\\\\(.+)', replacement: '\\1' })
      assert.deepEqual(await provider.read(path, query, MAPPING), { ...read, pattern: 'TF2\\\\(.+)' })
      await provider.remove(own, { svm: {} })
      assert.equal(await provider.find(path, query, MAPPING), undefined)
    },
  },
  {
    resource: 'netapp-ontap_name_services_unix_group',
    what: 'a UNIX group with a user is made, the user leaves, and both go',
    async run(provider) {
      const users = 'name-services/unix-users'
      const groups = 'name-services/unix-groups'
      const svm = { name: SVM }
      await provider.create(groups, { svm, name: 'tf_group', id: 3100 }, GROUP)
      await provider.create(users, { svm, name: 'tf_user', id: 3200, primary_gid: 3100, full_name: 'T. F.' }, USER)
      const uuid = await svmUuid(provider)
      const ofUser = { 'svm.name': SVM, name: 'tf_user', fields: ['svm,name,full_name,primary_gid,id'] }
      const user = await provider.read(users, ofUser, USER)
      assert.deepEqual([user['id'], user['primary_gid'], user['full_name']], [3200, 3100, 'T. F.'])
      await provider.update(`${users}/${uuid}/tf_user`, { svm: {}, full_name: 'Tee Eff', id: 3201, primary_gid: 3100 })
      assert.deepEqual(await provider.read(users, ofUser, USER), { ...user, id: 3201, full_name: 'Tee Eff' })
      await provider.create(`${groups}/${uuid}/tf_group/users`, { records: [{ name: 'tf_user' }] }, {}, {})
      const ofGroup = { 'svm.name': SVM, name: 'tf_group', fields: ['svm,name,id,users.name'] }
      assert.deepEqual((await provider.read(groups, ofGroup, GROUP))['users'], [{ name: 'tf_user' }])
      await provider.remove(`${groups}/${uuid}/tf_group/users/tf_user`)
      assert.deepEqual((await provider.read(groups, ofGroup, GROUP))['users'], [])
      await provider.remove(`${users}/${uuid}/tf_user`)
      await provider.remove(`${groups}/${uuid}/tf_group`)
      assert.equal(await provider.find(groups, ofGroup, GROUP), undefined)
    },
  },
]

const LDAP: Shape = {
  svm: { name: 'string', uuid: 'string' },
  servers: ['string'],
  schema: 'string',
  ad_domain: 'string',
  base_dn: 'string',
  base_scope: 'string',
  bind_dn: 'string',
  bind_as_cifs_server: 'bool',
  preferred_ad_servers: ['string'],
  port: 'int',
  query_timeout: 'int',
  min_bind_level: 'string',
  use_start_tls: 'bool',
  referral_enabled: 'bool',
  session_security: 'string',
  ldaps_enabled: 'bool',
}
const LDAP_FIELDS = [
  'svm.name,servers,schema,ad_domain,base_dn,base_scope,bind_dn,bind_as_cifs_server,preferred_ad_servers,port',
  'query_timeout,min_bind_level,use_start_tls,referral_enabled,session_security,ldaps_enabled',
]
const MAPPING: Shape = {
  svm: { name: 'string', uuid: 'string' },
  direction: 'string',
  index: 'int',
  pattern: 'string',
  replacement: 'string',
  client_match: 'string',
}
const MAPPING_FIELDS = ['direction,pattern,index,client_match,replacement,svm.name,svm.uuid']
const USER: Shape = {
  svm: { name: 'string', uuid: 'string' },
  name: 'string',
  full_name: 'string',
  primary_gid: 'int',
  id: 'int',
}
const GROUP: Shape = { svm: { name: 'string', uuid: 'string' }, name: 'string', id: 'int', users: [{ name: 'string' }] }
