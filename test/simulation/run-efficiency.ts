/** The child process of the test that kills efficiency runs: begins one or takes one up, and kills itself at a commit. */
import { openJobsCluster } from '../support/jobs-cluster.ts'
import { runEfficiency } from './efficiency-run.ts'
import { type End, endAtCommit } from './until-commit.ts'

const [folder = '', volume = '', end = '{}'] = process.argv.slice(2)
const open = openJobsCluster(folder)
endAtCommit(open.cluster.catalog, JSON.parse(end) as End, () => process.kill(process.pid, 'SIGKILL'))
await runEfficiency(open, volume)
await open.close()
