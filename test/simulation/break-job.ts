/** The child process of the test that breaks jobs: runs one job, or takes up what is left, and kills itself at a point. */
import { openJobsCluster, performExample, settled } from '../support/jobs-cluster.ts'
import type { Row } from '../../src/model/value.ts'

export interface Breakage {
  readonly folder: string
  readonly type: string
  readonly verb: string
  /** The record, for changes and deletions. */
  readonly key?: string | undefined
  /** One of the verb's further examples. */
  readonly example?: string | undefined
  readonly args?: Row | undefined
  /** The step that fails: `<type> <verb>: <step>`. */
  readonly failing?: string | undefined
  /** Where the process is killed: `<type> <verb>: <step>: before` and its like. */
  readonly killedAt?: string | undefined
  /** Whether it takes up the job of an earlier child instead of making one. */
  readonly isResumption?: boolean | undefined
}

const order = JSON.parse(process.argv[2] ?? '{}') as Breakage
const open = openJobsCluster(order.folder, {
  async reached(point) {
    if (point !== order.killedAt) return
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => undefined)
  },
  beforeStep(point) {
    return point === order.failing ? Promise.reject(new Error('This step fails on purpose.')) : Promise.resolve()
  },
})
if (order.isResumption === true) await open.jobs.resume()
else {
  const { type, verb, key, example, args } = order
  await performExample(open, open.cluster.behaviour(type), verb, { key, example, args })
}
await settled(open)
await open.close()
