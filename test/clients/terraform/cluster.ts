import assert from 'node:assert/strict'
import { asText } from '../../support/body.ts'
import type { Flow } from './flow.ts'
import type { Shape } from '../../support/shape.ts'

const ADDRESS: Shape = { ip: { address: 'string' }, name: 'string', uuid: 'string' }
const CLUSTER: Shape = {
  name: 'string',
  uuid: 'string',
  version: { full: 'string', generation: 'int', major: 'int', minor: 'int' },
  contact: 'string',
  location: 'string',
  dns_domains: ['string'],
  name_servers: ['string'],
  ntp_servers: ['string'],
  timezone: { name: 'string' },
  certificate: { uuid: 'string' },
  management_interfaces: [ADDRESS],
}
const NODE: Shape = { name: 'string', management_interfaces: [{ ip: { address: 'string' } }] }

const CRON: Shape = { minutes: ['int'], hours: ['int'], days: ['int'], months: ['int'], weekdays: ['int'] }
const SCHEDULE: Shape = {
  name: 'string',
  uuid: 'string',
  type: 'string',
  scope: 'string',
  interval: 'string',
  cron: CRON,
}
const SCHEDULE_FIELDS = ['name,uuid,cron,interval,type,scope']

const LICENSE: Shape = {
  name: 'string',
  scope: 'string',
  state: 'string',
  licenses: [
    {
      serial_number: 'string',
      owner: 'string',
      compliance: { state: 'string' },
      active: 'bool',
      evaluation: 'bool',
      installed_license: 'string',
    },
  ],
}

const AUTOSUPPORT: Shape = {
  enabled: 'bool',
  transport: 'string',
  to: ['string'],
  from: 'string',
  contact_support: 'bool',
  partner_addresses: ['string'],
  proxy_url: 'string',
  mail_hosts: ['string'],
  is_minimal: 'bool',
  smtp_encryption: 'string',
  ondemand_enabled: 'bool',
}

export const clusterFlows: readonly Flow[] = [
  {
    resource: 'netapp-ontap_cluster',
    what: 'the cluster is read with its nodes, and gets a contact and a location',
    async run(provider) {
      const read = await provider.read('cluster', {}, CLUSTER)
      assert.equal(read['version']?.['generation'], 9)
      const nodes = await provider.list('cluster/nodes', { fields: ['management_interfaces,name'] }, NODE)
      assert.equal(nodes.length, 1)
      const empty = { license: {}, timezone: {}, certificate: {}, management_interface: { ip: {} } }
      await provider.update('cluster', { ...empty, contact: 'tf@example.com', location: 'a rack' })
      const changed = await provider.read('cluster', {}, CLUSTER)
      assert.deepEqual(changed, { ...read, contact: 'tf@example.com', location: 'a rack' })
      await provider.update('cluster', { ...empty, contact: read['contact'], location: read['location'] })
      assert.deepEqual(await provider.read('cluster', {}, CLUSTER), read)
    },
  },
  {
    resource: 'netapp-ontap_cluster_schedule',
    what: 'schedules by the clock and by an interval are made, changed and removed',
    async run(provider) {
      const path = 'cluster/schedules'
      const cron = { minutes: [1, 31], hours: [8], days: [1], months: [2], weekdays: [3] }
      for (const [body, change] of [
        [{ cron, interval: '' }, { cron: { ...cron, hours: [9, 10] } }],
        [{ cron: {}, interval: 'P7DT8H9M10S' }, { interval: 'P1D' }],
      ] as const) {
        const name = 'tf_schedule'
        const given = body.interval === '' ? { name, cron: body.cron } : { name, cron: {}, interval: body.interval }
        const made = await provider.create(path, given, SCHEDULE)
        const query = { name, fields: SCHEDULE_FIELDS }
        const read = await provider.read(path, query, SCHEDULE)
        assert.deepEqual([read['type'], read['interval']], [body.interval === '' ? 'cron' : 'interval', body.interval])
        if (body.interval === '') assert.deepEqual(read['cron'], cron)
        const own = `${path}/${asText(made['uuid'])}`
        const answered = 'cron' in change ? change : { cron: {}, ...change }
        await provider.update(own, answered, SCHEDULE, { return_records: 'true' })
        const changed = await provider.read(path, query, SCHEDULE)
        assert.deepEqual(changed, { ...read, ...change })
        await provider.remove(own)
        assert.equal(await provider.find(path, query, SCHEDULE), undefined)
      }
    },
  },
  {
    resource: 'netapp-ontap_cluster_licensing_license',
    what: 'the licences are listed, and a key that is none is refused',
    async run(provider) {
      // Its sources have this slash, so there are two.
      const path = '/cluster/licensing/licenses'
      const licenses = await provider.list(path, { fields: ['name,state,licenses,scope'] }, LICENSE)
      const [license] = licenses
      assert.ok(license !== undefined)
      const refused = await provider.refused('POST', path, { keys: ['NOTAKEY'] })
      assert.notEqual(asText(refused['error']?.['message']), '')
    },
  },
  {
    resource: 'netapp-ontap_support_autosupport',
    what: 'AutoSupport is set up, turned on and off',
    async run(provider) {
      const path = 'support/autosupport'
      const fields = [
        'enabled,transport,to,from,contact_support,partner_addresses,proxy_url,mail_hosts,is_minimal,smtp_encryption',
        'ondemand_enabled',
      ]
      const read = await provider.read(path, { fields }, AUTOSUPPORT)
      const change = {
        enabled: false,
        transport: 'smtp',
        to: ['ops@example.com'],
        from: 'storage@example.com',
        contact_support: false,
        partner_addresses: ['partner@example.com'],
        mail_hosts: ['mail.example.com'],
        is_minimal: true,
        smtp_encryption: 'start_tls',
        ondemand_enabled: false,
      }
      await provider.update(path, change, {}, { force: 'true' })
      assert.deepEqual(await provider.read(path, { fields }, AUTOSUPPORT), { ...read, ...change })
      await provider.update(path, { enabled: true })
      assert.equal((await provider.read(path, { fields }, AUTOSUPPORT))['enabled'], true)
      await provider.update(path, { enabled: false })
    },
  },
]
