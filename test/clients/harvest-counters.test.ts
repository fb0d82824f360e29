/**
 * The counter tables that NetApp Harvest polls, in the form in which it asks for them, and how many of the metrics that its
 * dashboards show could be made of them and of all else that it polls. Harvest itself is not run.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { asList, asNumber, asText, type Body, recordsOf } from '../support/body.ts'
import { type AskedTable, askedTables, tablesOfNothing } from '../harvest/counters.ts'
import { coverageOf, type Metric, pollMetrics, surprises } from '../harvest/coverage.ts'
import { type Poller, startPoller } from '../harvest/poller.ts'
import { harvestSection } from '../harvest/table.ts'
import { insistOnSection } from '../support/page-section.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const skip = reasonUnlessWhole('test/recordings/harvest.test.ts')

const TABLES = 'cluster/counter/tables'
/** Workers add up for a second before they write. */
const COUNTED_MS = 5000
/** Of the metrics of what exists here that a dashboard needs. */
const PRESENT_PERCENT_MIN = 95

for (const release of ['9.12.1', '9.16.1'] as const) {
  describeUnless(skip, `counter tables that Harvest asks of ${release}`, {}, () => {
    let poller: Poller
    before(async () => {
      poller = await startPoller(release)
    })
    after(() => poller.close())

    it('the probes of its start are answered', async () => {
      const { status, body } = await poller.ask('cluster', { fields: '*' })
      assert.equal(status, 200)
      for (const name of ['name', 'uuid'] as const) assert.ok(asText(body[name]) !== '')
      assert.match(asText(body['version']?.['full']), /Release 9\./)
      for (const part of ['generation', 'major', 'minor']) asNumber(body['version']?.[part])
      const tables = await poller.rest.get(`/api/${TABLES}?return_records=false`)
      assert.ok(asNumber(tables.body['num_records']) >= askedTables.length)
    })

    for (const asked of askedTables) {
      it(`${asked.table} has a schema and rows with all that is asked for`, async () => {
        const { status, body } = await poller.ask(`${TABLES}/${asked.table}`, { max_records: '500' })
        assert.equal(status, 200)
        const schemas = new Map(asList(body['counter_schemas']).map((one) => [asText(one['name']), one]))
        const uncounted = new Set(asked.uncounted)
        for (const name of asked.counters) {
          const schema = schemas.get(name)
          assert.equal(schema !== undefined, !uncounted.has(name), `the schema of ${name}`)
          const denominator = schema?.['denominator']?.['name']
          const needsOne = ['average', 'percent'].includes(schema === undefined ? '' : asText(schema['type']))
          assert.equal(denominator !== undefined, needsOne, `the denominator of ${name}`)
          if (denominator !== undefined) assert.ok(schemas.has(asText(denominator)), `${name} has its denominator`)
        }
        const rows = await rowsOf(asked)
        if (asked.isOfMachine !== true) assert.ok(rows.length > 0)
        for (const row of rows) readRow(row, asked)
      })
    }

    it('traffic of S3 is counted for the volume, its workload, its SVM and the interface', async () => {
      const read = async (table: string, counter: string) => {
        const asked = askedTables.find((one) => one.table === table)
        assert.ok(asked !== undefined)
        const values = (await rowsOf(asked)).map((row) => countersOf(row).get(counter) ?? Number.NaN)
        return values.reduce((sum, value) => sum + value, 0)
      }
      const fromMs = Date.now()
      while ((await read('object_store_server', 'get_object_total')) === 0 && Date.now() - fromMs < COUNTED_MS) {
        await wait(100)
      }
      for (const [table, counter] of [
        ['object_store_server', 'get_object_total'],
        ['volume', 'total_read_ops'],
        ['volume:svm', 'bytes_written'],
        ['volume:node', 'write_latency'],
        ['qos_volume', 'read_ops'],
        ['lif', 'received_data'],
        ['system:node', 'total_ops'],
      ] as const) {
        if (table !== 'system:node' || (await hasMachine()))
          assert.ok((await read(table, counter)) > 0, `${table} ${counter}`)
      }
    })

    it('workloads are found by their class, and each is one row', async () => {
      for (const [table, workloadClass] of [
        ['qos', 'system_defined|user_defined'],
        ['qos_volume', 'autovolume'],
      ] as const) {
        const asked = { fields: '*', workload_class: workloadClass }
        const workloads = await poller.records('storage/qos/workloads', asked)
        assert.ok(workloads.length > 0)
        const table1 = askedTables.find((one) => one.table === table)
        assert.ok(table1 !== undefined)
        const rows = new Set((await rowsOf(table1)).map((row) => propertiesOf(row).get('uuid')))
        for (const workload of workloads) {
          for (const name of ['uuid', 'name', 'volume']) asText(workload[name])
          asText(workload['svm']?.['name'])
          asNumber(workload['wid'])
          assert.ok(rows.has(asText(workload['uuid'])), `${table} has ${asText(workload['name'])}`)
        }
      }
    })

    it('tables of what is not here are told by the code at which it stops asking', async () => {
      for (const table of tablesOfNothing) {
        const { status, body } = await poller.ask(`${TABLES}/${table}`, { max_records: '500' })
        assert.deepEqual([status, Number(body['error']?.['code'])], [404, 8585320], table)
        assert.ok(await poller.hasNothing(`${TABLES}/${table}/rows`, { fields: '*' }), table)
      }
    })

    if (release === '9.16.1') {
      describe('metrics for its dashboards', () => {
        let metrics: readonly Metric[]
        before(async () => {
          metrics = await pollMetrics(poller)
        })

        it('each dashboard has what it needs of what exists here', () => {
          for (const { dashboard, existing, present } of coverageOf(metrics)) {
            assert.ok(present * 100 >= existing * PRESENT_PERCENT_MIN, `${dashboard}: ${present} of ${existing}`)
          }
        })

        it('what is absent is listed with the reason, and what is listed is absent', () => {
          assert.deepEqual(surprises(metrics), [])
        })

        it('docs/compatibility.md says how many', () =>
          insistOnSection('docs/compatibility.md', 'NetApp Harvest', harvestSection(coverageOf(metrics))))
      })
    }

    const rowsOf = ({ table, counters, uncounted = [] }: AskedTable) => {
      const counted = counters.filter((name) => !uncounted.includes(name)).toSorted()
      return poller.records(`${TABLES}/${table}/rows`, { fields: '*', 'counters.name': counted.join('|') })
    }
    const hasMachine = async () =>
      recordsOf((await poller.ask(`${TABLES}/system:node/rows`, { fields: '*' })).body).length > 0
  })
}

function readRow(row: Body, { table, labels, counters, uncounted = [], sometimes = [] }: AskedTable): void {
  const properties = propertiesOf(row)
  for (const label of labels) {
    assert.ok(label === 'id' ? asText(row['id']) !== '' : properties.has(label), `${table} has the label ${label}`)
  }
  const values = countersOf(row)
  for (const name of counters) {
    if (uncounted.includes(name) || (sometimes.includes(name) && !values.has(name))) continue
    assert.ok(Number.isFinite(values.get(name)), `${table} counts ${name}`)
  }
  assert.notEqual(row['aggregation']?.['complete'], false)
}

function propertiesOf(row: Body): ReadonlyMap<string, string> {
  return new Map(asList(row['properties']).map((one) => [asText(one['name']), asText(one['value'])]))
}

/** The numbers by their names. One that has labels is the sum of its numbers. */
function countersOf(row: Body): ReadonlyMap<string, number> {
  return new Map(
    asList(row['counters']).map((one) => {
      const name = asText(one['name'])
      if (one['values'] === undefined) return [name, asNumber(one['value'])]
      const values = asList(one['values']).map(asNumber)
      assert.equal(values.length, asList(one['labels']).length, `${name} has a label for each value`)
      return [name, values.reduce((sum, value) => sum + value, 0)]
    }),
  )
}
