import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { draft, openBucket, put } from '../../ports/catalog/fixtures.suite.ts'
import type { Catalog, ListPage } from '../../ports/catalog.ts'
import { openSqliteCatalog } from '../../engines/sqlite/catalog.ts'
import { commonPrefix } from '../prefixes.ts'

void describe('pages of a bucket without versions', () => {
  void it('every page of every size shows the keys and common prefixes in their order, with any prefix and delimiter', async () => {
    const folders = Array.from({ length: 40 }, (_, n) => [
      `d${n}`,
      `d${n}/a`,
      `d${n}/b/c`,
      `d${n}/b/ü`,
      `e/${n}`,
      `é/${n}/x`,
    ])
    await withKeys(
      [...folders.flat(), 'e', 'z', '/', '//', '//x'].map((key) => Buffer.from(key)),
      async (catalog, keys) => {
        for (const prefix of ['', 'd', 'd1', 'd1/', 'é/', '/', 'z', 'no']) {
          for (const delimiter of ['', '/', 'b/', 'ü', '9']) {
            for (const limit of [1, 2, 7, 50, 1000]) await checkPages(catalog, keys, { prefix, delimiter, limit })
          }
        }
      },
    )
  })

  void it('keys that are no UTF-8, or hold the character that stands for what is none, come back byte for byte', async () => {
    const odd = [[0xff], [0x61, 0xff, 0x2f, 0x62], [0xed, 0xa0, 0x80], [0xef, 0xbf, 0xbd, 0x2f], [0x61, 0, 0x62]]
    const plain = Array.from({ length: 30 }, (_, n) => Buffer.from(`k${n}/x`))
    await withKeys([...odd.map((bytes) => Buffer.from(bytes)), ...plain], async (catalog, keys) => {
      for (const delimiter of ['', '/']) {
        for (const limit of [1, 3, 1000]) await checkPages(catalog, keys, { prefix: '', delimiter, limit })
      }
    })
  })

  void it('a row shows its checksum and storage class, be they the usual ones or not', async () => {
    const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
    await openBucket(catalog, 'b')
    const usual = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'x' } as const
    const drafts = [
      { ...draft('1'), checksum: usual },
      { ...draft('2'), checksum: { ...usual, algorithm: 'SHA256', type: 'COMPOSITE' as const } },
      { ...draft('3'), checksum: usual, storageClass: 'GLACIER' },
    ]
    await catalog.commit(drafts.map((one, n) => put('b', `k${n}`, one)))
    const none = Buffer.alloc(0)
    const { objects } = await catalog.list({ bucket: 'b', prefix: none, delimiter: none, after: none, limit: 10 })
    assert.deepEqual(
      objects.map(({ checksum, storageClass, version }) => [checksum.algorithm, checksum.type, storageClass, version]),
      [
        ['CRC64NVME', 'FULL_OBJECT', undefined, 'null'],
        ['SHA256', 'COMPOSITE', undefined, 'null'],
        ['CRC64NVME', 'FULL_OBJECT', 'GLACIER', 'null'],
      ],
    )
    await catalog.close()
  })
})

async function withKeys(keys: Buffer[], use: (catalog: Catalog, sorted: Buffer[]) => Promise<void>): Promise<void> {
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  await openBucket(catalog, 'b')
  await catalog.commit(
    keys.map((key) => ({ do: 'put-object', bucket: 'b', key, object: draft(key.toString('hex')), nowMs: 0 })),
  )
  await use(
    catalog,
    keys.toSorted((a, b) => Buffer.compare(a, b)),
  )
  await catalog.close()
}

/** What the pages show together is what a plain reading of all keys makes of them. */
async function checkPages(
  catalog: Catalog,
  keys: readonly Buffer[],
  asked: { readonly prefix: string; readonly delimiter: string; readonly limit: number },
): Promise<void> {
  const [prefix, delimiter] = [Buffer.from(asked.prefix), Buffer.from(asked.delimiter)]
  const wanted: string[] = []
  for (const key of keys) {
    if (!key.subarray(0, prefix.length).equals(prefix)) continue
    const common = commonPrefix(key, prefix, delimiter)
    const entry = common === undefined ? `key ${key.toString('hex')}` : `prefix ${Buffer.from(common).toString('hex')}`
    if (wanted.at(-1) !== entry) wanted.push(entry)
  }
  const shown: string[] = []
  let after: Uint8Array = Buffer.alloc(0)
  for (let isLast = false; !isLast;) {
    const page: ListPage = await catalog.list({ bucket: 'b', prefix, delimiter, after, limit: asked.limit })
    const entries = [
      ...page.objects.map(({ key, etag }) => ({ key, entry: `key ${etag}` })),
      ...page.prefixes.map((key) => ({ key, entry: `prefix ${Buffer.from(key).toString('hex')}` })),
    ]
    assert.ok(entries.length <= asked.limit)
    shown.push(...entries.toSorted((a, b) => Buffer.compare(a.key, b.key)).map(({ entry }) => entry))
    isLast = page.next === undefined
    after = page.next ?? after
  }
  assert.deepEqual(shown, wanted, JSON.stringify(asked))
}
