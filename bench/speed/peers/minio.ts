/** MinIO with one drive. */
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { baseOf, findProgram, freePort, HOST, startProgram, targetOf, type Peer } from './peer.ts'

/** The last commit that there is, which `.ci/peers` builds. */
const RELEASE = '2026-02-12'

export const minio: Peer = {
  name: 'MinIO',
  syncs: 'one `fdatasync`, of the file of the object; none of its folder',
  isDurable: true,
  async start({ folder, programs, certificate }) {
    const program = findProgram('minio', programs)
    const [port, consolePort] = [await freePort(), await freePort()]
    const [accessKey, secretKey] = ['speedaccesskey', 'speed-secret-key']
    const certificates = join(folder, 'certificates')
    mkdirSync(certificates)
    if (certificate !== undefined) {
      copyFileSync(certificate.certFile, join(certificates, 'public.crt'))
      copyFileSync(certificate.keyFile, join(certificates, 'private.key'))
    }
    const data = join(folder, 'data')
    mkdirSync(data)
    const addresses = ['--address', `${HOST}:${port}`, '--console-address', `${HOST}:${consolePort}`]
    const args = ['server', '--quiet', '--certs-dir', certificates, ...addresses, data]
    const environment = { MINIO_ROOT_USER: accessKey, MINIO_ROOT_PASSWORD: secretKey, MINIO_BROWSER: 'off' }
    const started = await startProgram('minio', program, args, { folder, port, environment })
    return targetOf(started, {
      name: 'MinIO',
      version: RELEASE,
      base: baseOf(port, certificate),
      accessKey,
      secretKey,
      region: 'us-east-1',
      cannot: [],
    })
  },
}
