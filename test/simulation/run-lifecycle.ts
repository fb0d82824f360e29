/** The child process of the test that kills lifecycle runs: begins one or takes one up, and kills itself at a commit. */
import { LIFECYCLE_RUNS } from '../../src/resources/protocols/s3/types.ts'
import { openJobsCluster, performExample } from '../support/jobs-cluster.ts'

const [folder = '', commits = '', when = ''] = process.argv.slice(2)
const open = openJobsCluster(folder)
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
// Killed right after its last commit a run has ended: another would judge by what that one did, and find more to remove.
const isNew = resumed === 0 && (await open.cluster.rows(LIFECYCLE_RUNS)).length === 0
if (isNew) await performExample(open, open.cluster.behaviour(LIFECYCLE_RUNS), 'create')
while (open.jobs.activeCount > 0) await new Promise((resolve) => setTimeout(resolve, 5))
await open.close()
