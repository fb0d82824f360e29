/** The child process of the test of many requests at once: asks for very many, or goes on with what is left, until it is killed. */
import { openJobsCluster } from '../support/jobs-cluster.ts'
import { askForMany, type ManyOrder } from './many.ts'
import { type End, endAtCommit } from './until-commit.ts'

const [folder = '', order = '{}', end = '{}'] = process.argv.slice(2)
const open = openJobsCluster(folder)
endAtCommit(open.cluster.catalog, JSON.parse(end) as End, () => process.kill(process.pid, 'SIGKILL'))
await askForMany(open, JSON.parse(order) as ManyOrder)
await open.close()
