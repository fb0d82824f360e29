import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CommitRefused } from '../../ports/catalog.ts'
import type { Change } from '../../ports/catalog.ts'
import { draft, put } from '../../ports/catalog/fixtures.suite.ts'
import { Writer } from './writer.ts'

const record = (key: string): Change => ({ do: 'put-record', type: 't', key, body: { key } })
const refusal: Change = { do: 'check-record', type: 't', key: 'never', expect: 1 }

function withWriter(use: (writer: Writer) => void): void {
  const writer = new Writer(':memory:')
  try {
    use(writer)
  } finally {
    writer.close()
  }
}

const count = (writer: Writer, table: string) =>
  Number(writer.db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'])

void describe('the writer', () => {
  void it('settles a batch in one transaction', () =>
    withWriter((writer) => {
      const settled = writer.settle([[record('a')], [record('b')], [record('c')]])
      assert.deepEqual(settled, [[{ revision: 1 }], [{ revision: 2 }], [{ revision: 3 }]])
      assert.equal(writer.transactions, 1)
    }))

  void it('a commit refused before it wrote does not hurt its neighbours, nor take more than one transaction', () =>
    withWriter((writer) => {
      const [a, b, c] = writer.settle([[record('a')], [refusal], [record('c')]])
      assert.ok(!(a instanceof Error) && !(c instanceof Error))
      assert.ok(b instanceof CommitRefused)
      assert.equal(count(writer, 'records'), 2)
      assert.equal(writer.transactions, 1)
    }))

  void it('a commit refused after it wrote leaves nothing, also of its sums, and does not hurt its neighbours', () =>
    withWriter((writer) => {
      writer.settle([
        [
          { do: 'open-volume', volume: 'v', sizeBytes: 100 },
          { do: 'open-bucket', bucket: 'b', volume: 'v', limitBytes: 1000 },
        ],
      ])
      const settled = writer.settle([
        [put('b', 'k1', draft('one', 40))],
        [put('b', 'k2', draft('two', 40)), record('x'), refusal],
        [put('b', 'k3', draft('three', 70))],
        [put('b', 'k4', draft('four', 60)), record('y')],
      ])
      assert.deepEqual(
        settled.map((s) => (s instanceof CommitRefused ? `${s.reason} ${s.change}` : 'done')),
        ['done', 'stale 2', 'full 0', 'done'],
      )
      assert.equal(count(writer, 'objects'), 2)
      assert.equal(count(writer, 'blobs'), 2)
      assert.equal(count(writer, 'records'), 1)
      assert.deepEqual({ ...writer.db.prepare('SELECT used FROM volumes').get() }, { used: 100 })
      assert.deepEqual({ ...writer.db.prepare('SELECT used, objects FROM buckets').get() }, { used: 100, objects: 2 })
    }))

  void it('a commit that makes no sense fails alone', () =>
    withWriter((writer) => {
      const nonsense = { do: 'fly' } as unknown as Change
      const tooLong = put('b', 'k'.repeat(1025), draft('x'))
      const open: Change[] = [
        { do: 'open-volume', volume: 'v', sizeBytes: 100 },
        { do: 'open-bucket', bucket: 'b', volume: 'v', limitBytes: 100 },
      ]
      const [first, second, third, fourth] = writer.settle([open, [record('a'), nonsense], [tooLong], [record('b')]])
      assert.ok(!(first instanceof Error) && !(fourth instanceof Error))
      assert.ok(second instanceof TypeError && third instanceof RangeError)
      assert.equal(count(writer, 'records'), 1)
    }))

  void it('a full disk fails what does not fit, keeps what was there, and heals when there is room', () =>
    withWriter((writer) => {
      writer.settle([[record('before')]])
      const pages = Number(writer.db.prepare('PRAGMA page_count').get()?.['page_count'])
      writer.db.exec(`PRAGMA max_page_count = ${pages + 2}`)
      const long: Change = { do: 'put-record', type: 't', key: 'long', body: { text: 'x'.repeat(100_000) } }
      const [first, second, third] = writer.settle([[long], [record('new')], [record('before')]])
      assert.ok(first instanceof CommitRefused && first.reason === 'no-space', 'what does not fit fails')
      assert.ok(second instanceof CommitRefused && second.reason === 'no-space', 'so does what is new from then on')
      assert.ok(!(third instanceof Error), 'what makes nothing longer is done')
      assert.ok(!writer.db.isTransaction)
      writer.db.exec('PRAGMA max_page_count = 100000')
      writer.tidy(true)
      const [healed] = writer.settle([[long]])
      assert.ok(!(healed instanceof Error))
      const rows = writer.db.prepare('SELECT key FROM records ORDER BY key').all()
      assert.deepEqual(
        rows.map(({ key }) => key),
        ['before', 'long'],
      )
    }))

  void it('rows of a closed volume go a little with each batch, and its number is not used meanwhile', () =>
    withWriter((writer) => {
      const open: Change[] = [
        { do: 'open-volume', volume: 'v', sizeBytes: 1e9 },
        { do: 'open-bucket', bucket: 'b', volume: 'v', limitBytes: 1e9 },
      ]
      const keys = Array.from({ length: 500 }, (_, i) => `k${i}`)
      writer.settle([open, keys.map((k) => put('b', k, draft(k)))])
      const remove = keys.map((k): Change => ({ do: 'delete-object', bucket: 'b', key: Buffer.from(k) }))
      writer.settle([
        remove,
        [
          { do: 'close-bucket', bucket: 'b' },
          { do: 'close-volume', volume: 'v' },
        ],
        [{ do: 'open-volume', volume: 'v', sizeBytes: 1e9, tree: 'another' }],
      ])
      assert.equal(count(writer, 'volumes'), 2)
      assert.ok(writer.hasWork && count(writer, 'blobs') > 0)
      for (let i = 0; i < 5; i++) writer.tidy(true)
      assert.equal(count(writer, 'volumes'), 1)
      assert.equal(count(writer, 'blobs'), 0)
      assert.ok(!writer.hasWork)
    }))
})
