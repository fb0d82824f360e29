/** Everything else that applications ask of objects: parts, ranges, heads, deletes, copies, and all of it at once. */
import type { Bench } from './bench.ts'
import type { FlowOrder } from './flows.ts'
import type { Order } from './order.ts'

const KIB = 2 ** 10
const MIB = 2 ** 20
const BUCKET = 'bench-operations'
const SMALL = 4 * KIB
const LARGE = 64 * MIB
const RANGE = MIB
const PART = 8 * MIB
const PUTTERS = 16

export async function measureOperations(bench: Bench): Promise<void> {
  const { seconds, smallObjects } = bench.settings
  const until = { seconds }
  const to = { ...bench.s3, clients: 1, until: { requests: 1 }, numbers: { pick: 'next', from: 0 } } as const
  const small: Order = { ...to, method: 'PUT', target: `/${BUCKET}/${SMALL}/{n}`, body: { bytes: SMALL } }
  await bench.prepare({ ...to, method: 'PUT', target: `/${BUCKET}` })
  await bench.prepare({ ...small, clients: PUTTERS, until: { requests: smallObjects } })
  await bench.prepare({ ...to, method: 'PUT', target: `/${BUCKET}/large`, body: { bytes: LARGE } })
  await bench.prepare({ ...to, method: 'PUT', target: `/${BUCKET}/source`, body: { bytes: MIB } })

  bench.title(`Operations, with ${smallObjects} objects of 4 KiB`)
  let next = smallObjects
  for (const clients of [1, 16]) {
    const random = { ...bench.s3, numbers: { pick: 'random', count: smallObjects }, clients, until } as const
    await bench.measure('HEAD', clients, {
      product: () => bench.run({ ...random, method: 'HEAD', target: small.target }),
    })
    const from = LARGE / 2
    await bench.measure('GET of a range of 1 MiB in 64 MiB', clients, {
      product: () =>
        bench.run({
          ...random,
          method: 'GET',
          target: `/${BUCKET}/large`,
          headers: { range: `bytes=${from}-${from + RANGE - 1}` },
        }),
    })
    await bench.measure('COPY of 1 MiB', clients, {
      product: () =>
        bench.run({
          ...random,
          method: 'PUT',
          numbers: { pick: 'client' },
          target: `/${BUCKET}/copy-{n}`,
          headers: { 'x-amz-copy-source': `/${BUCKET}/source` },
        }),
    })
    const deletes = clients === 1 ? smallObjects / 4 : smallObjects
    await bench.measure('DELETE of 4 KiB', clients, {
      product: async () => {
        const numbers = { pick: 'next', from: next } as const
        const of = { ...small, numbers, until: { requests: deletes } }
        await bench.prepare({ ...of, clients: PUTTERS })
        next += deletes
        return bench.run({ ...of, body: undefined, method: 'DELETE', clients })
      },
    })
  }
  const flow = { ...bench.s3, bucket: BUCKET, objects: smallObjects, seconds: Math.max(1, seconds) }
  for (const clients of [1, 4]) await measureFlow(bench, { ...flow, flow: 'multipart', bytes: PART, clients })
  await measureFlow(bench, { ...flow, flow: 'mixed', bytes: SMALL, clients: 16, seconds: 2 * flow.seconds })
}

const kinds: Readonly<Record<FlowOrder['flow'], readonly (readonly [string, string])[]>> = {
  multipart: [
    ['create', 'multipart: create'],
    ['part', 'multipart: a part of 8 MiB'],
    ['complete', 'multipart: complete two parts'],
  ],
  mixed: [
    ['GET', 'mixed: GET 4 KiB, 60 %'],
    ['PUT', 'mixed: PUT 4 KiB, 20 %'],
    ['LIST', 'mixed: LIST a page of 1000, 10 %'],
    ['DELETE', 'mixed: DELETE, 10 %'],
  ],
}

async function measureFlow(bench: Bench, order: FlowOrder): Promise<void> {
  const { result: loads, held } = await bench.watched(() => bench.parts.flows.run(order))
  for (const [kind, what] of kinds[order.flow]) {
    const load = loads[kind]
    if (load !== undefined) bench.add(what, order.clients, new Map([['product', [load]]]), { held })
  }
}
