/** What a start makes of its settings, where one depends on another. */
import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { readSettings, SettingsError } from '../bin/settings.ts'
import { MEMORY_MIB_DEFAULT, memoryMibMin, workersWithin } from '../src/core/memory-budget.ts'

const read = (...flags: string[]) => readSettings({}, flags, '/')

test('without a word about memory, as many workers start as there are cores and as fit', () => {
  const { memoryMib, workers } = read()
  assert.equal(memoryMib, MEMORY_MIB_DEFAULT)
  assert.equal(workers, workersWithin(MEMORY_MIB_DEFAULT, availableParallelism()))
})

test('the least memory has one worker', () => {
  const { memoryMib, workers } = read('--memory-mib', String(memoryMibMin(1)))
  assert.deepEqual([memoryMib, workers], [memoryMibMin(1), 1])
})

test('less memory than the least is refused in a sentence that names it', () => {
  const least = memoryMibMin(1)
  const message = new RegExp(`^HOLDFAST_MEMORY_MIB takes an integer in ${least}\\.\\.\\d+\\.$`)
  assert.throws(
    () => read('--memory-mib', String(least - 1)),
    (failure) => {
      assert.ok(failure instanceof SettingsError)
      return message.test(failure.message)
    },
  )
})

test('workers that do not fit into the memory are refused, with the memory that they need', () => {
  assert.equal(read('--workers', '8', '--memory-mib', String(memoryMibMin(8))).workers, 8)
  assert.throws(() => read('--workers', '8', '--memory-mib', String(memoryMibMin(8) - 1)), {
    message: `8 data-plane processes do not fit into ${memoryMibMin(8) - 1} MiB. Set HOLDFAST_MEMORY_MIB to at least ${memoryMibMin(8)}, or HOLDFAST_WORKERS to at most 7.`,
  })
})
