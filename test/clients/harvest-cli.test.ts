/** The commands that NetApp Harvest polls beside the REST interface, in the form in which it asks for them. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { type AskedCommand, askedCommands, commandsOfNothing } from '../harvest/commands.ts'
import { type Poller, startPoller } from '../harvest/poller.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const skip = reasonUnlessWhole('test/recordings/harvest.test.ts')

for (const release of ['9.12.1', '9.16.1'] as const) {
  describeUnless(skip, `commands that Harvest asks of ${release}`, {}, () => {
    let poller: Poller
    before(async () => {
      poller = await startPoller(release)
    })
    after(() => poller.close())

    const askedHere = askedCommands.filter((one) => one.release === undefined || release !== '9.12.1')
    for (const asked of askedHere) {
      it(`${asked.path}, for ${asked.asker}: ${asked.isEmpty ? 'there is nothing' : 'every field comes back'}`, async () => {
        const records = await poller.records(`private/cli/${asked.path}`, argumentsOf(asked))
        if (asked.isEmpty) {
          assert.deepEqual(records, [])
          return
        }
        // Volumes have tags from 9.13.1 on.
        const unknown = new Set([...(asked.unknown ?? []), ...(release === '9.12.1' ? ['tags'] : [])])
        for (const name of asked.labels) {
          const isThere = records.some((record) => record[name] !== undefined)
          assert.equal(isThere, !unknown.has(name), `the label ${name} in ${JSON.stringify(records[0])}`)
        }
        for (const name of asked.numbers ?? []) {
          const values = records.map((record): unknown => record[name]).filter((value) => value !== undefined)
          assert.equal(values.length > 0, !unknown.has(name), `the number ${name} in ${JSON.stringify(records[0])}`)
          for (const value of values) assert.equal(typeof value, 'number', `${name} is ${JSON.stringify(value)}`)
        }
      })
    }

    for (const asked of commandsOfNothing) {
      it(`${asked.path}, for ${asked.asker}: there is none on any cluster`, async () => {
        assert.deepEqual(await poller.records(`private/cli/${asked.path}`, argumentsOf(asked)), [])
      })
    }
  })
}

function argumentsOf({ labels, numbers = [], filters = {}, also = {} }: AskedCommand) {
  return { fields: [...labels, ...numbers].join(','), ...filters, ...also }
}
