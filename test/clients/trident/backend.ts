import assert from 'node:assert/strict'
import { asNumber, asText } from '../../support/body.ts'
import type { Shape } from '../../support/shape.ts'
import type { Driver } from './driver.ts'

export const SVM = 'trident'
export const AGGREGATE = 'aggr1'
export const ADDRESS = '127.0.0.41'

/** What the drivers do for one purpose. */
export interface Part {
  /** The drivers that do it, as their configurations name them. */
  readonly drivers: string
  /** One sentence. */
  readonly what: string
  run(driver: Driver, svm: string): Promise<void>
}

const CLUSTER: Shape = {
  version: { full: 'string', generation: 'int', major: 'int', minor: 'int' },
  san_optimized: 'bool',
  disaggregated: 'bool',
}
const SVM_SHAPE: Shape = { uuid: 'string', name: 'string', state: 'string', aggregates: [{ name: 'string' }] }

/** What the SVM of a backend has to have before the drivers come: their administrator makes it. */
export async function prepareSvm(driver: Driver): Promise<void> {
  await driver.done('POST', 'svm/svms', { name: SVM, aggregates: [{ name: AGGREGATE }] })
  const svm = { name: SVM }
  await driver.done('POST', 'protocols/nfs/services', { svm })
  await driver.done('POST', 'protocols/cifs/services', { svm, name: 'TRIDENT', ad_domain: AD })
  const ip = { address: ADDRESS, netmask: '8' }
  await driver.done('POST', 'network/ip/interfaces', { svm, name: 'trident_data', ip })
}

const AD = { fqdn: 'AD.EXAMPLE', user: 'administrator', password: 'of-the-domain' }

export async function uuidOfSvm(driver: Driver): Promise<string> {
  const svm = await driver.find('svm/svms', { fields: '', name: SVM }, SVM_SHAPE)
  return asText(svm?.['uuid'])
}

export const backendParts: readonly Part[] = [
  {
    drivers: 'all',
    what: 'a backend starts: release, SVM, serial numbers, data addresses, aggregates, and a heartbeat as an event',
    async run(driver, svm) {
      const { version } = await driver.get('cluster', { fields: '**' }, CLUSTER)
      assert.equal(asNumber(version?.['generation']), 9)
      const fields = 'san_optimized,disaggregated'
      const personality = await driver.get('cluster', { fields, ignore_unknown_fields: 'true' }, CLUSTER)
      assert.deepEqual([personality['san_optimized'], personality['disaggregated']], [false, false])
      const all = await driver.list('svm/svms', { fields: '', name: '*' }, SVM_SHAPE)
      assert.ok(all.length >= 1)
      const nodes = await driver.list('cluster/nodes', { fields: 'serial_number', name: '*' }, NODE)
      for (const node of nodes) assert.notEqual(node['serial_number'], '')
      for (const services of ['data_nfs', 'data_cifs']) {
        const query = { fields: 'ip.address,state', services, 'svm.uuid': svm }
        const addresses = await driver.list('network/ip/interfaces', query, INTERFACE)
        const wanted = { ip: { address: ADDRESS }, state: 'up' }
        assert.deepEqual(
          addresses.map(({ ip, state }) => ({ ip, state })),
          [wanted],
        )
      }
      const { aggregates } = await driver.get(`svm/svms/${svm}`, {}, SVM_SHAPE)
      assert.deepEqual(aggregates, [{ name: AGGREGATE }])
      const query = { fields: 'block_storage.primary.disk_type', name: '*' }
      const disks = await driver.list('storage/aggregates', query, DISK_TYPES)
      assert.ok(disks.some(({ name }) => asText(name) === AGGREGATE))
      const event = {
        app_version: '25.06',
        autosupport_required: false,
        category: 'heartbeat',
        computer_name: 'trident-controller',
        event_description: '{"version":"25.06"}',
        event_id: 1,
        event_source: 'trident',
        severity: 'notice',
      }
      await driver.done('POST', 'support/ems/application-logs', event, { return_records: 'true' })
    },
  },
  {
    drivers: 'all',
    what: 'lists of SnapMirror relationships, initiator groups and LUNs are empty, and NVMe does not exist',
    async run(driver) {
      for (const path of ['snapmirror/relationships', 'snapmirror/policies', 'protocols/san/igroups', 'storage/luns']) {
        const { records, num_records: count } = await driver.answered('GET', path, 200)
        assert.deepEqual([records, count], [[], 0], path)
      }
      await driver.answered('GET', 'protocols/nvme/services', 404)
    },
  },
]

const NODE: Shape = { uuid: 'string', name: 'string', serial_number: 'string' }
const INTERFACE: Shape = { ip: { address: 'string' }, state: 'string', name: 'string' }
const DISK_TYPES: Shape = { name: 'string', block_storage: { primary: { disk_type: 'string' } } }
