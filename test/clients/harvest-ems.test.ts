/** The events that NetApp Harvest collects, in the form in which it asks for them. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { asList, asNumber, asText, type Body } from '../support/body.ts'
import { eventLabels, SEVERITIES, slicesOf, TARGET_CHARACTERS_MAX } from '../harvest/events.ts'
import { type Poller, startPoller } from '../harvest/poller.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const skip = reasonUnlessWhole('test/recordings/harvest.test.ts')

const EVENTS = 'support/ems/events'
/** The characters of a target beside the names. */
const AROUND = 300

for (const release of ['9.12.1', '9.16.1'] as const) {
  describeUnless(skip, `events that Harvest asks of ${release}`, {}, () => {
    let poller: Poller
    let names: readonly string[]
    before(async () => {
      poller = await startPoller(release)
      names = (await poller.records('support/ems/messages', { fields: 'name' })).map(({ name }) => asText(name))
    })
    after(() => poller.close())

    const clusterTime = async () => {
      const { status, body } = await poller.ask('private/cli/cluster/date', { fields: 'date', max_records: '1' })
      assert.equal(status, 200)
      return asText(asList(body['records'])[0]?.['date'])
    }

    it('the time of the cluster is one that Go reads', async () => {
      const date = await clusterTime()
      assert.match(date, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$/)
      assert.ok(Math.abs(Date.parse(date) - Date.now()) < 60_000)
    })

    const asked = (from: number, given: Readonly<Record<string, string>> = {}) =>
      poller.records(EVENTS, {
        fields: '*',
        'message.severity': SEVERITIES,
        order_by: 'index asc',
        time: `>=${from}`,
        ...given,
      })

    for (const [charactersMax, what] of [
      [TARGET_CHARACTERS_MAX, 'of one long list'],
      [600, 'of many short ones'],
    ] as const) {
      it(`events by the names ${what} come once each, the oldest first`, async () => {
        const from = Math.floor(Date.parse(await clusterTime()) / 1000) - 600
        const slices = slicesOf(names, charactersMax, AROUND)
        assert.equal(slices.length > 1, charactersMax < TARGET_CHARACTERS_MAX)
        const found: Body[] = []
        for (const slice of slices) {
          const events = await asked(from, { 'message.name': slice.join(',') })
          const indexes = events.map(({ index }) => asNumber(index))
          assert.deepEqual(
            indexes,
            indexes.toSorted((a, b) => a - b),
          )
          for (const event of events) assert.ok(slice.includes(asText(event['message']?.['name'])))
          found.push(...events)
        }
        const made = new Set(found.map((event) => asText(event['message']?.['name'])))
        for (const name of ['volume.created', 'snapshot.created', 'qtree.created']) assert.ok(made.has(name), name)
        assert.equal(new Set(found.map(({ index }) => asNumber(index))).size, found.length)
        for (const event of found) readEvent(event)
      })
    }

    it('events before the time that is asked from do not come', async () => {
      const soon = Math.floor(Date.parse(await clusterTime()) / 1000) + 3600
      assert.deepEqual(await asked(soon, { 'message.name': names.join(',') }), [])
    })

    it('the newest emergencies are asked for without names', async () => {
      const from = Math.floor(Date.parse(await clusterTime()) / 1000) - 86_400
      const given = { fields: 'node,message,source', 'message.severity': 'emergency', time: `>=${from}` }
      assert.deepEqual(await poller.records(EVENTS, given), [])
      for (const event of await poller.records(EVENTS, { ...given, 'message.severity': 'notice' })) {
        asText(event['node']?.['name'])
        asText(event['message']?.['name'])
        asText(event['source'])
      }
    })

    it('alerts of hardware monitors are listed, and there are none', async () => {
      assert.deepEqual(await poller.records('private/support/alerts', { suppress: 'false' }), [])
    })
  })
}

function readEvent(event: Body): void {
  for (const label of eventLabels) {
    const value = label.split('.').reduce<Body | undefined>((of, word) => of?.[word], event)
    assert.notEqual(value, undefined, label)
  }
  for (const parameter of asList(event['parameters'])) {
    asText(parameter['name'])
    asText(parameter['value'])
  }
  assert.ok(asText(event['log_message']).startsWith(`${asText(event['message']?.['name'])}:`))
}
