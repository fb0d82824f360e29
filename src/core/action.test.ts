/** Requests that ask for actions, and jobs of changes that have actions beside them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf, failure } from '../model/failure.ts'
import { flag, text } from '../model/kinds/index.ts'
import type { Row } from '../model/value.ts'
import { action, isOneAction, partsOf, verbOfJob, type VerbOfJob, withActions } from './action.ts'
import type { Cluster } from './cluster.ts'
import { inline, job, type Step, type Work } from './verb.ts'

const done: string[] = []

function step(name: string): Step {
  return {
    name,
    run: (_cluster, { input }) => Promise.resolve(void done.push(`${name} ${JSON.stringify(input)}`)),
    undo: (_cluster, { input }) => Promise.resolve(void done.push(`undo ${name} ${JSON.stringify(input)}`)),
  }
}

const about = (name: string) => ({
  doc: `Does ${name}.`,
  danger: 'harmless' as const,
  example: {},
})

const actions = {
  leave: action({
    ...about('leave'),
    spelled: { asks: { 'journey.to': 'any' }, args: { to: 'journey.to' }, alone: () => failure('moveWithChanges') },
    args: { to: { doc: 'Where to.', kind: text(), required: true } },
    plan: (_cluster, { args }) => Promise.resolve({ key: 'k', input: { to: args.to } }),
    steps: [step('leave')],
  }),
  halt: action({
    ...about('halt'),
    spelled: { asks: { 'journey.state': ['halt'] }, isFirst: true },
    plan: () => Promise.resolve({ key: 'k', input: { is: 'halted' }, locks: ['b', 'c'] }),
    steps: [step('halt')],
  }),
  paint: action({
    ...about('paint'),
    args: { color: { doc: 'Which.', kind: text(), default: 'red' }, twice: { doc: 'Whether.', kind: flag() } },
    spelled: { asks: { paint: [true] }, args: { color: 'paint_color' } },
    plan: (_cluster, { row, args }) =>
      Promise.resolve({ key: 'k', input: { of: row['name'] ?? '', color: args.color } }),
    steps: [step('paint')],
  }),
}

const modify = job({
  plan: (_cluster, { draft, row }) =>
    Promise.resolve({ key: 'k', input: draft, after: { ...row, ...draft }, locks: ['a', 'b'] }),
  steps: [step('apply')],
})

const asked = (draft: Row, args: Row = {}) => {
  const parts = partsOf(actions, draft, args)
  return [parts.called.map(({ name, args: given }) => [name, given]), parts.draft, parts.args, isOneAction(parts)]
}

test('what spells an action is taken out of a change, in its body and in its query', () => {
  assert.deepEqual(asked({ comment: 'x' }), [[], { comment: 'x' }, {}, false])
  assert.deepEqual(asked({ paint: true, paint_color: 'blue' }), [[['paint', { color: 'blue' }]], {}, {}, true])
  assert.deepEqual(asked({ comment: 'x' }, { paint: true }), [[['paint', {}]], { comment: 'x' }, {}, false])
  assert.deepEqual(asked({ 'journey.to': 'home' }), [[['leave', { to: 'home' }]], {}, {}, true])
})

test('a flag that is not raised asks for nothing, and an argument without its action stays with the change', () => {
  assert.deepEqual(asked({ paint: false, comment: 'x' }), [[], { comment: 'x' }, {}, false])
  assert.deepEqual(asked({ paint_color: 'blue' }), [[], { paint_color: 'blue' }, {}, false])
})

test('an action that stands alone is refused beside anything else', () => {
  for (const draft of [{ comment: 'x' }, { paint: true }]) {
    assert.throws(() => asked({ 'journey.to': 'home', ...draft }), { code: codeOf('moveWithChanges') })
  }
})

test('an action that is a commit of its own is refused beside anything else', () => {
  const plan = () => Promise.resolve({ key: 'k', input: {} })
  const change = inline({ plan, step: step('apply') })
  const wave = action({ ...about('wave'), spelled: { asks: { wave: [true] } }, plan, step: step('wave') })
  const shared = action({ ...about('nod'), spelled: { asks: { nod: [true] } }, plan, step: change.steps[0] as Step })
  const steps = (draft: Row) => withActions(change, partsOf({ wave, shared }, draft, {})).steps.map(({ name }) => name)
  assert.throws(() => steps({ wave: true, comment: 'x' }), { code: codeOf('actionAlone'), target: 'wave' })
  assert.throws(() => steps({ wave: true, nod: true }), { code: codeOf('actionAlone') })
  assert.deepEqual(steps({ nod: true, comment: 'x' }), ['apply'])
})

const NOBODY = {} as Cluster
const work = (input: Row): Work => ({
  key: 'k',
  input,
  memo: {},
  stopping: new AbortController().signal,
  progress: () => Promise.resolve(),
  conclude: () => undefined,
  commit: () => Promise.resolve([]),
})

const behaviour = { modify, actions }

async function ran(jobRow: VerbOfJob): Promise<string[]> {
  done.length = 0
  const verb = verbOfJob(jobRow, behaviour)
  const input = jobRow.$input ?? {}
  for (const one of verb?.steps ?? []) await one.run(NOBODY, work(input))
  for (const one of (verb?.steps ?? []).toReversed()) await one.undo?.(NOBODY, work(input))
  return [...done]
}

test('a change with actions is one job: each part has its own input, and all are undone together', async () => {
  const draft = { name: 'new', 'journey.state': 'halt', paint: true }
  const parts = partsOf(actions, draft, {})
  const caller = { user: 'admin', role: 'admin', from: 'test' }
  const verb = withActions(modify, parts)
  const plan = await verb.plan(NOBODY, { caller, draft, row: { name: 'old' }, path: {}, args: {} })
  assert.deepEqual(plan.locks, ['a', 'b', 'c'])
  assert.equal(verb.isJob, true)
  assert.deepEqual(
    verb.steps.map(({ name }) => name),
    ['halt', 'apply', 'paint'],
  )
  const halted = 'halt {"is":"halted"}'
  // It paints what the change makes of the record.
  const painted = 'paint {"of":"new","color":"red"}'
  const steps = await ran({ $verb: 'modify', $input: plan.input })
  const [first, applied, last, ...back] = steps
  assert.deepEqual([first, last], [halted, painted])
  assert.match(String(applied), /^apply \{"name":"new"/)
  assert.deepEqual(back, [`undo ${painted}`, `undo ${applied}`, `undo ${halted}`])
})

test('the job of an action has its steps, and a job of a change without actions those of the change', async () => {
  assert.deepEqual(await ran({ $verb: 'paint', $input: {} }), ['paint {}', 'undo paint {}'])
  assert.deepEqual(await ran({ $verb: 'modify', $input: {}, $steps: ['apply'] }), ['apply {}', 'undo apply {}'])
  assert.equal(verbOfJob({ $verb: 'gone' }, behaviour), undefined)
})

test('a job from before actions had names goes on with the steps that it was made with', async () => {
  const left = { $verb: 'modify', $input: { name: 'new' }, $steps: ['apply', 'paint'] }
  const verb = verbOfJob(left, behaviour)
  assert.deepEqual(
    verb?.steps.map(({ name }) => name),
    left.$steps,
  )
  const told = '{"name":"new"}'
  assert.deepEqual(await ran(left), [`apply ${told}`, `paint ${told}`, `undo paint ${told}`, `undo apply ${told}`])
})
