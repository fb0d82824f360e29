import assert from 'node:assert/strict'
import { asText } from '../../support/body.ts'
import { AGGREGATE, SVM, svmUuid, type Flow } from './flow.ts'
import type { Shape } from '../../support/shape.ts'

const FIELDS = ['name', 'ipspace', 'snapshot_policy', 'subtype', 'comment', 'language', 'max_volumes', 'aggregates']
const SVM_SHAPE: Shape = {
  name: 'string',
  uuid: 'string',
  ipspace: { name: 'string' },
  snapshot_policy: { name: 'string' },
  subtype: 'string',
  comment: 'string',
  language: 'string',
  aggregates: [{ name: 'string' }],
  max_volumes: 'string',
}
const IPSPACE: Shape = { name: 'string', uuid: 'string' }

export const svmFlows: readonly Flow[] = [
  {
    resource: 'netapp-ontap_network_ipspace',
    what: 'an IPspace is made, found by name and removed',
    async run(provider) {
      const made = await provider.create('network/ipspaces', { name: 'tf_space' }, IPSPACE)
      const found = await provider.read('network/ipspaces', { name: 'tf_space', fields: ['name', 'uuid'] }, IPSPACE)
      assert.deepEqual(found, made)
      assert.equal((await provider.list('network/ipspaces', { fields: ['name', 'uuid'] }, IPSPACE)).length, 2)
      await provider.remove(`network/ipspaces/${asText(made['uuid'])}`)
      const gone = await provider.find('network/ipspaces', { name: 'tf_space', fields: ['name', 'uuid'] }, IPSPACE)
      assert.equal(gone, undefined)
    },
  },
  {
    resource: 'netapp-ontap_svm',
    what: 'an SVM is made with nothing but its name; what follows is made in it',
    async run(provider) {
      const body = { name: SVM, ipspace: {}, snapshot_policy: {}, aggregates: null }
      const made = await provider.create('svm/svms', body, SVM_SHAPE)
      assert.equal(made['name'], SVM)
      const read = await provider.read(`svm/svms/${await svmUuid(provider)}`, {}, SVM_SHAPE)
      assert.deepEqual(
        [read['ipspace'], read['snapshot_policy'], read['subtype'], read['max_volumes']],
        [{ name: 'Default' }, { name: 'default' }, 'default', 'unlimited'],
      )
    },
  },
  {
    resource: 'netapp-ontap_svm',
    what: 'an SVM with all that it takes is made in an IPspace of its own, changed, renamed and removed',
    async run(provider) {
      const space = await provider.create('network/ipspaces', { name: 'tf_space' }, IPSPACE)
      const body = {
        name: 'tf_svm2',
        ipspace: { name: 'tf_space' },
        snapshot_policy: { name: 'none' },
        subtype: 'default',
        comment: 'made by terraform',
        language: 'c.utf_8',
        max_volumes: '200',
        aggregates: [{ name: AGGREGATE }],
      }
      const made = await provider.create('svm/svms', body, SVM_SHAPE)
      const path = `svm/svms/${asText(made['uuid'])}`
      assert.deepEqual(await provider.read(path, {}, SVM_SHAPE), { ...body, uuid: made['uuid'] })
      const query = { return_records: 'true' }
      const change = {
        name: 'tf_svm3',
        ipspace: {},
        snapshot_policy: { name: 'default' },
        comment: '',
        max_volumes: '9',
      }
      await provider.update(path, { ...change, aggregates: [] }, SVM_SHAPE, query)
      const changed = await provider.read('svm/svms', { name: 'tf_svm3', fields: FIELDS }, SVM_SHAPE)
      const after = { name: 'tf_svm3', comment: '', max_volumes: '9', snapshot_policy: { name: 'default' } }
      assert.deepEqual(changed, { ...body, ...after, uuid: made['uuid'], aggregates: [] })
      const listed = await provider.list('svm/svms', { fields: FIELDS, name: 'tf_svm*' }, SVM_SHAPE)
      assert.equal(listed.length, 2)
      const held = await provider.refused('DELETE', `network/ipspaces/${asText(space['uuid'])}`)
      assert.equal(held['error']?.['code'], '1969180')
      await provider.remove(path)
      await provider.remove(`network/ipspaces/${asText(space['uuid'])}`)
    },
  },
]

/** The last of all. */
export const svmRemoval: Flow = {
  resource: 'netapp-ontap_svm',
  what: 'the SVM in which all this was made is empty again, and goes',
  async run(provider) {
    await provider.remove(`svm/svms/${await svmUuid(provider)}`)
    assert.equal(await provider.find('svm/svms', { name: SVM }, SVM_SHAPE), undefined)
  },
}
