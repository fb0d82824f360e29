/** Finds what port 0 becomes, before several processes share it. */
import { createServer } from 'node:net'
import type { Address } from './settings.ts'

/** The address with a real port. The caller's processes bind it right after; nobody else knows it yet. */
export async function settlePort(address: Address | undefined): Promise<Address | undefined> {
  if (address === undefined || address.port !== 0) return address
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ host: address.host, port: 0 }, resolve)
  })
  const bound = server.address()
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  return { host: address.host, port: typeof bound === 'object' && bound !== null ? bound.port : 0 }
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
