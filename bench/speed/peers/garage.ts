/** Garage with one node, told to sync data and metadata as the others do that are compared with it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  baseOf,
  findProgram,
  freePort,
  HOST,
  Missing,
  runProgram,
  startProgram,
  targetOf,
  versionIn,
  type Peer,
} from './peer.ts'

export const garage: Peer = {
  name: 'Garage',
  syncs: 'as configured here, `data_fsync` and `metadata_fsync`; otherwise never',
  isDurable: true,
  async start({ folder, programs, certificate }) {
    if (certificate !== undefined) throw new Missing('Garage does not speak TLS.')
    const program = findProgram('garage', programs)
    const [port, rpcPort] = [await freePort(), await freePort()]
    const [accessKey, secretKey] = [`GK${'5'.repeat(24)}`, '5'.repeat(64)]
    const config = join(folder, 'garage.toml')
    writeFileSync(
      config,
      `metadata_dir = "${folder}/meta"
data_dir = "${folder}/data"
db_engine = "lmdb"
metadata_fsync = true
data_fsync = true
replication_factor = 1
rpc_bind_addr = "${HOST}:${rpcPort}"
rpc_public_addr = "${HOST}:${rpcPort}"
rpc_secret = "${'6'.repeat(64)}"
[s3_api]
s3_region = "garage"
api_bind_addr = "${HOST}:${port}"
root_domain = ".s3.invalid"
`,
    )
    const run = (...args: string[]) => runProgram(program, ['-c', config, ...args], { RUST_LOG: 'error' })
    const environment = { RUST_LOG: 'error' }
    const started = await startProgram('garage', program, ['-c', config, 'server'], { folder, port, environment })
    const [node = ''] = run('node', 'id', '-q').split('@')
    run('layout', 'assign', node, '-z', 'here', '-c', '50G')
    run('layout', 'apply', '--version', '1')
    run('key', 'import', '--yes', '-n', 'speed', accessKey, secretKey)
    run('key', 'allow', '--create-bucket', accessKey)
    const base = baseOf(port, undefined)
    const version = versionIn(runProgram(program, ['--version']))
    return targetOf(started, { name: 'Garage', version, base, accessKey, secretKey, region: 'garage', cannot: [] })
  },
}
