import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedClock } from '../../engines/simulated/clock.ts'
import { Background, type TaskDeclaration } from './background.ts'

const TASK = {
  name: 'a-task',
  doc: 'Does something.',
  bound: 'Reads nothing.',
  scope: 'node' as const,
  everyMs: 100,
  failed: 'Something could not be done.',
}

function begin(declared: Omit<TaskDeclaration, keyof typeof TASK> & Partial<TaskDeclaration>, clock: SimulatedClock) {
  const logged: string[] = []
  const log = (message: string) => void logged.push(message)
  const background = new Background({
    clock,
    log: { debug: log, info: log, warn: log, error: log },
    claims: { begin: () => Promise.reject(new Error('What each node does needs no claim.')) },
  })
  const task = background.task({ ...TASK, ...declared })
  task.start()
  return { background, task, logged }
}

test('runs follow one another, also after one that failed, with a rest that knows how long each took', async () => {
  const clock = new SimulatedClock()
  const begun: number[] = []
  const { task, logged } = begin(
    {
      async act() {
        begun.push(clock.elapsed())
        if (begun.length === 2) throw new Error('a disk')
        await clock.sleep(10)
      },
      restMs: (tookMs) => 100 + tookMs,
    },
    clock,
  )
  await clock.advance(400)
  assert.deepEqual(begun, [0, 120, 220, 340])
  assert.deepEqual(logged, ['Something could not be done.'])
  await clock.until(task.stop())
  await clock.advance(1000)
  assert.equal(begun.length, 4)
  assert.equal(task.isStopping, true)
})

test('a stop waits for the run that is on, and for no rest', async () => {
  const clock = new SimulatedClock()
  let ended = 0
  const { task } = begin(
    {
      everyMs: 1e9,
      async act() {
        await clock.sleep(50)
        ended++
      },
    },
    clock,
  )
  await clock.advance(20)
  await clock.until(task.stop())
  assert.equal(ended, 1)
  assert.equal(clock.elapsed(), 50)
})

test('a task shows what it does, when it ran and runs next, and what went wrong last', async () => {
  const clock = new SimulatedClock()
  let isFailing = true
  const { background, task } = begin(
    {
      async act(own) {
        own.says('Reading a disk.')
        await clock.sleep(10)
        if (isFailing) throw new Error('The disk is gone.')
      },
    },
    clock,
  )
  const fromMs = clock.now() - clock.elapsed()
  assert.deepEqual(background.tasks, [task])
  await clock.advance(5)
  assert.deepEqual(task.status, { state: 'running', runs: 0, failures: 0, begunMs: fromMs, work: 'Reading a disk.' })
  await clock.advance(10)
  isFailing = false
  const lastError = { message: 'The disk is gone.', atMs: fromMs + 10 }
  const ran = { begunMs: fromMs, endedMs: fromMs + 10 }
  assert.deepEqual(task.status, { state: 'waiting', runs: 1, failures: 1, ...ran, nextMs: fromMs + 110, lastError })
  await clock.advance(110)
  await clock.until(task.stop())
  assert.deepEqual(task.status, {
    state: 'stopped',
    runs: 2,
    failures: 1,
    begunMs: fromMs + 110,
    endedMs: fromMs + 120,
    lastError,
  })
})

test('what a stop interrupts is no failure', async () => {
  const clock = new SimulatedClock()
  const { task, logged } = begin(
    {
      async act(own) {
        await clock.sleep(1000, own.stopping)
        throw new Error('It was interrupted.')
      },
    },
    clock,
  )
  await clock.advance(10)
  await clock.until(task.stop())
  assert.deepEqual([logged, task.status.failures], [[], 0])
})
