/**
 * The generator: one process, however many clients it plays. The same code drives the product and the reference servers,
 * so its own cost is in every line of the table alike; what it can do at most is the line of the bare server.
 */
import { randomFillSync } from 'node:crypto'
import { BODY_BYTES_MAX, numbered, type Load, type Order } from './order.ts'
import { Sender } from './sender.ts'
import { Tally } from './tally.ts'

let body: Buffer | undefined

process.on('message', (order: Order) => {
  run(order).then(
    (load) => process.send?.({ load }),
    (failure: unknown) => process.send?.({ failure: String(failure) }),
  )
})
process.on('disconnect', () => process.exit(0))

async function run(order: Order): Promise<Load> {
  const { numbers, method } = order
  const sender = new Sender(order, order.clients)
  const bytesOut = order.body !== undefined && 'bytes' in order.body ? order.body.bytes : 0
  if (bytesOut > 0) body ??= randomFillSync(Buffer.allocUnsafe(BODY_BYTES_MAX))

  const tally = new Tally()
  let next = numbers.pick === 'next' ? numbers.from : 0
  let begun = 0
  const wanted = 'requests' in order.until ? order.until.requests : Infinity
  const endMs = 'seconds' in order.until ? performance.now() + order.until.seconds * 1000 : Infinity

  const client = async (me: number) => {
    do {
      if (begun >= wanted) return
      begun++
      const n =
        numbers.pick === 'client' ? me : numbers.pick === 'next' ? next++ : Math.floor(Math.random() * numbers.count)
      const request = { method, path: numbered(order.target, n), payload: payload(n), headers: headers(n) }
      const sentMs = performance.now()
      tally.note(sentMs, await sender.send(request), bytesOut)
    } while (performance.now() < endMs)
  }

  const payload = (n: number) => {
    if (order.body === undefined) return undefined
    return 'json' in order.body ? Buffer.from(numbered(order.body.json, n)) : body?.subarray(0, order.body.bytes)
  }

  const headers = (n: number): Record<string, string> => ({
    ...(order.body !== undefined && 'json' in order.body ? { 'content-type': 'application/json' } : {}),
    ...Object.fromEntries(Object.entries(order.headers ?? {}).map(([name, value]) => [name, numbered(value, n)])),
  })

  await Promise.all(Array.from({ length: order.clients }, (_, me) => client(me)))
  sender.end()
  return tally.load(next)
}
