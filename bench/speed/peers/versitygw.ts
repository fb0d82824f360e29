/** versitygw over a folder: each object is a file, what is said of it is in extended attributes. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { baseOf, findProgram, freePort, HOST, startProgram, targetOf, type Peer } from './peer.ts'

/** The one that `.ci/peers` builds. A program that is built from source does not know its version. */
const VERSION = '1.8.0'

export const versitygw: Peer = {
  name: 'versitygw',
  syncs: 'never',
  isDurable: false,
  async start({ folder, programs, certificate }) {
    const program = findProgram('versitygw', programs)
    const port = await freePort()
    const [accessKey, secretKey, region] = ['speedaccesskey', 'speed-secret-key', 'us-east-1']
    const data = join(folder, 'data')
    mkdirSync(data)
    const secure = certificate === undefined ? [] : ['--cert', certificate.certFile, '--key', certificate.keyFile]
    const args = ['--access', accessKey, '--secret', secretKey, '--region', region, '--port', `${HOST}:${port}`]
    // Without its keep-alive each request would pay for a connection.
    const started = await startProgram(
      'versitygw',
      program,
      [...args, '--keep-alive', '--quiet', ...secure, 'posix', data],
      {
        folder,
        port,
      },
    )
    return targetOf(started, {
      name: 'versitygw',
      version: VERSION,
      base: baseOf(port, certificate),
      accessKey,
      secretKey,
      region,
      cannot: [],
    })
  },
}
