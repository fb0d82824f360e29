/** The child process of the test that kills efficiency runs: begins one or takes one up, and kills itself at a commit. */
import { EFFICIENCY_RUNS } from '../../src/resources/storage/volumes/efficiency-runs.ts'
import { efficiencyVolume } from '../support/efficiency.ts'
import { openJobsCluster } from '../support/jobs-cluster.ts'

const [folder = '', commits = '', when = ''] = process.argv.slice(2)
const open = openJobsCluster(folder)
const { run, volume } = await efficiencyVolume(open, folder)
const { catalog } = open.cluster
const commit = catalog.commit.bind(catalog)
let left = Number(commits)
catalog.commit = async (changes) => {
  if (--left > 0) return commit(changes)
  if (when === 'after') await commit(changes)
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => undefined)
}
const resumed = await open.jobs.resume()
const isNew = resumed === 0 && (await open.cluster.rows(EFFICIENCY_RUNS, volume)).length === 0
if (isNew) await run({ compression: true, dedupe: true, qos_policy: 'best_effort' })
while (open.jobs.activeCount > 0) await new Promise((resolve) => setTimeout(resolve, 5))
await open.close()
