/** The child process of the test that kills lifecycle runs: begins one or takes one up, and kills itself at a commit. */
import { openJobsCluster } from '../support/jobs-cluster.ts'
import { runLifecycle } from './lifecycle-run.ts'
import { type End, endAtCommit } from './until-commit.ts'

const [folder = '', end = '{}'] = process.argv.slice(2)
const open = openJobsCluster(folder)
endAtCommit(open.cluster.catalog, JSON.parse(end) as End, () => process.kill(process.pid, 'SIGKILL'))
await runLifecycle(open)
await open.close()
