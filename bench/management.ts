/** The management interface: making volumes, reading one, reading a collection. */
import type { Bench } from './bench.ts'

const CREATORS = 16

export async function measureManagement(bench: Bench): Promise<void> {
  const { volumes, seconds } = bench.settings
  bench.title(`Management, over HTTPS, with ${volumes} volumes`)
  const create = {
    ...bench.management,
    method: 'POST',
    target: '/api/storage/volumes?return_timeout=120&return_records=false',
    body: { json: '{"name":"bench_{n}","svm":{"name":"svm1"},"size":"64m","guarantee":{"type":"none"}}' },
  } as const
  const alone = Math.min(100, Math.floor(volumes / 2))
  const first = await bench.run({
    ...create,
    numbers: { pick: 'next', from: 0 },
    clients: 1,
    until: { requests: alone },
  })
  bench.add('volume create, its job waited for', 1, new Map([['product', [first]]]))
  const others = await bench.run({
    ...create,
    numbers: { pick: 'next', from: alone },
    clients: CREATORS,
    until: { requests: volumes - alone },
  })
  bench.add('volume create, its job waited for', CREATORS, new Map([['product', [others]]]))

  const uuid = await bench.uuidOf('/api/storage/volumes', 'bench_00000000')
  for (const [what, target] of [
    ['GET a volume', `/api/storage/volumes/${uuid}`],
    [
      `GET a collection of ${volumes} volumes`,
      `/api/storage/volumes?name=bench_*&fields=name,uuid,size,state,space&max_records=${volumes}`,
    ],
  ] as const) {
    const get = { ...bench.management, method: 'GET', target, numbers: { pick: 'client' } } as const
    const one = await bench.prepare({ ...get, clients: 1, until: { requests: 3 } })
    const bytes = Math.round(one.bytes / 3)
    const bare = {
      base: bench.parts.bare.tls,
      method: 'GET',
      target: `/page/${bytes}/{n}`,
      numbers: { pick: 'client' },
    } as const
    for (const clients of [1, 16]) {
      await bench.measure(`${what} (${bytes < 1000 ? `${bytes} B` : `${Math.round(bytes / 1000)} kB`})`, clients, {
        product: () => bench.run({ ...get, clients, until: { seconds } }),
        bare: () => bench.run({ ...bare, clients, until: { seconds } }),
      })
    }
  }
}
