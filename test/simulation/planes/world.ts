/**
 * Management planes in processes of their own, on one catalog that one more process writes. Any of them may be killed and
 * started again. What they ask one another goes through this process, as between the nodes of a cluster.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startWriter, type WriterProcess } from '../../../src/engines/sqlite/start-writer.ts'
import type { Answered } from '../../support/cluster.ts'
import { QUICK_DISK } from '../../support/quick-disk.ts'
import type { Asked } from '../requests/storage.ts'
import { Channel, PeerGone } from './channel.ts'
import type { ParentAnswers, PlaneAnswers } from './run-plane.ts'

const PROGRAM = fileURLToPath(new URL('run-plane.ts', import.meta.url))
const SOCKET = 'run/writer.sock'
/** What a killed process sent last has arrived by then. */
const SETTLE_MS = 20

export class World {
  readonly folder: string
  readonly planes: readonly PlaneProcess[]
  readonly #writer: WriterProcess

  private constructor(folder: string, writer: WriterProcess, nodes: readonly string[]) {
    this.folder = folder
    this.#writer = writer
    const key = randomBytes(32).toString('hex')
    this.planes = nodes.map((node) => new PlaneProcess(this, node, key))
  }

  static async start(nodes: readonly string[]): Promise<World> {
    const folder = mkdtempSync(join(QUICK_DISK, 'holdfast-planes-'))
    for (const each of ['catalog', 'run', 'aggr1']) mkdirSync(join(folder, each))
    const file = join(folder, 'catalog/catalog.db')
    const world = new World(folder, await startWriter({ file, socket: join(folder, SOCKET), isFirst: true }), nodes)
    const [first, ...others] = world.planes
    await first?.start(true)
    await Promise.all(others.map((plane) => plane.start()))
    return world
  }

  async close(): Promise<void> {
    await Promise.all(this.planes.map((plane) => plane.stop()))
    await this.#writer.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Those that run, but for one. */
  others(than: PlaneProcess): PlaneProcess[] {
    return this.planes.filter((plane) => plane !== than && plane.isRunning)
  }

  /** Tells all planes which files somebody may append to. */
  async tellWriters(): Promise<void> {
    const writers = this.planes.flatMap(({ writer }) => (writer === undefined ? [] : [writer]))
    await Promise.all(this.planes.map(async (plane) => plane.remote?.other.writers(writers).catch(unlessGone)))
  }
}

export class PlaneProcess implements Asked {
  readonly node: string
  /** Where it serves objects. */
  url = ''
  writer: string | undefined
  remote: Channel<PlaneAnswers> | undefined
  readonly #world: World
  readonly #key: string
  #child: ChildProcess | undefined
  #ended: Promise<unknown> = Promise.resolve()

  constructor(world: World, node: string, key: string) {
    this.#world = world
    this.node = node
    this.#key = key
  }

  get isRunning(): boolean {
    return this.remote !== undefined
  }

  async start(isFirst = false): Promise<void> {
    const world = this.#world
    this.writer = randomBytes(4).toString('hex')
    await world.tellWriters()
    const child = fork(PROGRAM, [], {
      cwd: world.folder,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, NODE_NO_WARNINGS: '1', NODE_TEST_CONTEXT: undefined },
    })
    const remote = new Channel<PlaneAnswers>(child, this.#answers())
    this.#child = child
    this.#ended = new Promise((resolve) => {
      child.once('disconnect', () => remote.end())
      child.once('exit', resolve)
    })
    const writers = world.planes.flatMap(({ writer }) => writer ?? [])
    const { node, writer } = this
    await remote.other.start({ isFirst, node, socket: SOCKET, key: this.#key, writer, writers })
    this.remote = remote
  }

  async serve(networkInterface: string): Promise<void> {
    this.url = await this.other.serve(networkInterface)
  }

  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.#gone()
  }

  async stop(): Promise<void> {
    if (this.isRunning) await this.other.stop()
    if (this.#child?.connected === true) this.#child.disconnect()
    await this.#gone()
  }

  get other(): Channel<PlaneAnswers>['other'] {
    if (this.remote === undefined) throw new PeerGone()
    return this.remote.other
  }

  async call(method: string, target: string, body?: object): Promise<Answered> {
    return this.other.call(method, target, ...(body === undefined ? [] : [body]))
  }

  async #gone(): Promise<void> {
    await this.#ended
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    this.remote = undefined
    this.writer = undefined
    await this.#world.tellWriters()
  }

  #answers(): ParentAnswers {
    const ask = <Result>(act: (other: PlaneProcess['other']) => Promise<Result>) =>
      Promise.all(this.#world.others(this).map((plane) => act(plane.other).catch(unlessGone)))
    return {
      stillReading: async (blobs) => (await ask((other) => other.reading(blobs))).flatMap((some) => some ?? []),
      leaveTree: async (volume, tree) => (await ask((other) => other.leave(volume, tree))).includes(true),
      unlinked: async (place, blobs) => {
        await ask((other) => other.unlinked(place, blobs))
      },
    }
  }
}

export function unlessGone(failure: unknown): undefined {
  if (!(failure instanceof PeerGone)) throw failure
  return undefined
}
