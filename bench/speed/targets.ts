/** The servers that are measured: checkouts of the product, and servers of other makes. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { descendants } from '../../test/clients/processes.ts'
import { startProduct } from '../../test/support/product.ts'
import { ceph } from './peers/ceph.ts'
import { garage } from './peers/garage.ts'
import { minio } from './peers/minio.ts'
import { nginx } from './peers/nginx.ts'
import type { Certificate, Peer, Target } from './peers/peer.ts'
import { versitygw } from './peers/versitygw.ts'

/** Servers of other makes. One more is one more file beside theirs. */
export const peers: readonly Peer[] = [minio, ceph, garage, versitygw, nginx]

/** Where `.ci/peers` installs. */
export const PROGRAMS = '.tmp/peers'

export interface PeersStart {
  readonly folder: string
  readonly programs: string
  readonly certificate: Certificate | undefined
}

export interface StartedPeers {
  readonly targets: Target[]
  /** Why one is not measured. */
  readonly missing: Readonly<Record<string, string>>
}

/** Starts what can be started: whatever keeps one from it, the others are measured. */
export async function startPeers(
  wanted: readonly Peer[],
  { folder, programs, certificate }: PeersStart,
): Promise<StartedPeers> {
  const targets: Target[] = []
  const missing: Record<string, string> = {}
  for (const peer of wanted) {
    const own = mkdtempSync(join(folder, 'peer-'))
    try {
      targets.push(await peer.start({ folder: own, programs, certificate }))
    } catch (failure) {
      missing[peer.name] = (failure as Error).message
    }
  }
  return { targets, missing }
}

/** The product of a checkout, as anyone starts it but for where its data is. */
export async function startCheckout(
  name: string,
  checkout: string,
  folder: string,
  { isSecure = false, environment = {} }: { isSecure?: boolean; environment?: Readonly<Record<string, string>> } = {},
): Promise<Target> {
  const data = join(folder, name)
  mkdirSync(data, { recursive: true })
  const options = {
    folder: data,
    program: join(checkout, 'bin', 'launch.mjs'),
    environment: { HOLDFAST_WORKERS: String(availableParallelism()), ...environment },
  }
  // The first start of a checkout compiles what later ones read, and keeps some of what that took.
  const first = await startProduct(options)
  await first.stop({ keepFolder: true })
  const product = await startProduct(options)
  return {
    name,
    version: commitOf(checkout),
    base: (isSecure ? product.s3 : product.s3Http) ?? '',
    accessKey: product.accessKey,
    secretKey: product.secretKey,
    region: 'us-east-1',
    compiles: true,
    cannot: [],
    processes: () => [{ pid: product.pid, part: 'main' }, ...descendants(product.pid)],
    end: () => product.stop(),
  }
}

/** The last commit that changed the product. */
function commitOf(checkout: string): string {
  const args = ['-C', checkout, 'log', '-1', '--format=%h', '--', 'src', 'bin', 'package-lock.json']
  const asked = spawnSync('git', args, { encoding: 'utf8' })
  return asked.status === 0 ? asked.stdout.trim() : 'unknown'
}
