/** Pages of 1000 keys at any place of a bucket. */
import type { Bench } from './bench.ts'

const PAGE = 1000
const LOADERS = 32

export async function measureListing(bench: Bench): Promise<void> {
  const { keys, seconds } = bench.settings
  await bench.prepare({
    ...bench.s3,
    method: 'PUT',
    target: '/bench-list',
    numbers: { pick: 'client' },
    clients: 1,
    until: { requests: 1 },
  })
  bench.title(`LIST over ${keys} keys`)
  const load = await bench.prepare({
    ...bench.s3,
    method: 'PUT',
    target: '/bench-list/folder/{n}',
    numbers: { pick: 'next', from: 0 },
    clients: LOADERS,
    until: { requests: keys },
  })
  bench.add('PUT of 0 bytes, to have them', LOADERS, new Map([['product', [load]]]))
  const page = {
    ...bench.s3,
    method: 'GET',
    target: `/bench-list?list-type=2&max-keys=${PAGE}&start-after=folder%2F{n}`,
    numbers: { pick: 'random', count: Math.max(1, keys - PAGE - 1) },
  } as const
  const one = await bench.prepare({ ...page, clients: 1, until: { requests: 3 } })
  const bytes = Math.round(one.bytes / 3)
  const bare = {
    base: bench.parts.bare.plain,
    method: 'GET',
    target: `/page/${bytes}/{n}`,
    numbers: page.numbers,
  } as const
  for (const clients of [1, 16]) {
    await bench.measure(`LIST, a page of ${PAGE} (${Math.round(bytes / 1000)} kB)`, clients, {
      product: () => bench.run({ ...page, clients, until: { seconds } }),
      bare: () => bench.run({ ...bare, clients, until: { seconds } }),
    })
  }
}
