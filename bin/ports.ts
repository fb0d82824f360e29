/** Looks at ports before several processes share them: whether they are free, and what port 0 becomes. */
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { reasonOf, StartFailure } from './failures.ts'
import { type Address, printAddress } from './settings.ts'

/** How long processes that a killed start left behind may hold a port. */
const LEFT_BEHIND_MS = 3000
const LOOK_EVERY_MS = 100

/**
 * The addresses with real ports in place of 0: neither that of another of them nor one of `taken`, for they are held until
 * the last is known. The caller's processes bind them right after; nobody else knows them yet.
 */
export async function settlePorts<Name extends string>(
  addresses: Readonly<Record<Name, Address | undefined>>,
  taken: readonly number[],
  hold: (address: Address) => Promise<HeldPort> = holdPort,
): Promise<Record<Name, Address | undefined>> {
  const settled: Record<Name, Address | undefined> = { ...addresses }
  const names = Object.keys(addresses) as Name[]
  const used = new Set([0, ...taken, ...names.flatMap((name) => addresses[name]?.port ?? [])])
  const held: HeldPort[] = []
  try {
    for (const name of names) {
      const address = addresses[name]
      if (address?.port !== 0) continue
      let port = 0
      while (used.has(port)) {
        const one = await hold(address)
        held.push(one)
        port = one.port
      }
      used.add(port)
      settled[name] = { ...address, port }
    }
  } finally {
    await Promise.all(held.map((one) => one.free()))
  }
  return settled
}

/**
 * Data-plane processes share their port, so the kernel would let those of two clusters share one, and deal the clients of
 * one out to the other. Throws when a port that can be bound so is held. One that cannot be bound at all is tried again
 * by those who serve it.
 */
export async function insistOnOwnPort(variable: string, address: Address | undefined): Promise<void> {
  if (address === undefined || address.port === 0) return
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    if (await canBind(address, false)) return
    if (!(await canBind(address, true))) return
    if (waitedMs >= LEFT_BEHIND_MS) throw cannotListen(variable, address, IN_USE)
    await wait(LOOK_EVERY_MS)
  }
}

const IN_USE = Object.assign(new Error('it is in use'), { code: 'EADDRINUSE' })

export function cannotListen(variable: string, address: Address, failure: unknown): StartFailure {
  const isInUse = (failure as NodeJS.ErrnoException).code === 'EADDRINUSE'
  const where = printAddress('', address).slice('://'.length)
  return new StartFailure(
    isInUse
      ? `The address ${where} is in use by another program. Stop that one, or set ${variable} to another address.`
      : `The address ${where} cannot be listened on (${reasonOf(failure)}). Set ${variable} to another address.`,
    { cause: failure },
  )
}

async function canBind(address: Address, isShared: boolean): Promise<boolean> {
  try {
    await bindOnce(address, isShared)
    return true
  } catch {
    return false
  }
}

async function bindOnce(address: Address, isShared: boolean): Promise<void> {
  await (await holdPort(address, isShared)).free()
}

export interface HeldPort {
  readonly port: number
  free(): Promise<void>
}

async function holdPort({ host, port }: Address, reusePort = false): Promise<HeldPort> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ host, port, reusePort }, resolve)
  })
  const bound = server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : 0,
    free: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
      }),
  }
}

/** Whether this process may bind ports below 1024. */
export async function canBindLowPorts(): Promise<boolean> {
  if (process.platform !== 'linux' || process.getuid?.() === 0) return process.getuid?.() === 0
  const server = createServer()
  return new Promise((resolve) => {
    server
      .once('error', () => resolve(false))
      .listen({ host: '127.0.0.1', port: 1023 }, () => {
        server.close(() => resolve(true))
      })
  })
}
