/** What the catalog shows of a bucket, asked in every way, against what the model has. */
import assert from 'node:assert/strict'
import type { Catalog } from '../../catalog.ts'
import { bytes, listed, scanned, versionsListed } from '../fixtures.suite.ts'
import { fold, plain, plainListed, plainVersions, shown, shownListed, type Index } from './rows.suite.ts'

export async function checkView(catalog: Catalog, name: string, index: Index, epoch?: number): Promise<void> {
  const at = epoch === undefined ? undefined : { epoch }
  assert.deepEqual(await listed(catalog, name, { limit: 2, ...at }), plain(index))
  assert.deepEqual(await versionsListed(catalog, name, { limit: 2, ...at }, shownListed), plainListed(index))
  assert.deepEqual(await scanned(catalog, name, 2, at, shown), plainVersions(index))
  const folded = { delimiter: '/', limit: 1, ...at }
  assert.deepEqual(await listed(catalog, name, folded), fold(plain(index)))
  assert.deepEqual(await versionsListed(catalog, name, folded, shownListed), fold(plainListed(index)))
  for (const key of ['a', 'b']) {
    const rows = index.get(key) ?? []
    for (const version of [undefined, 'null', rows[0]?.version, rows.at(-1)?.version]) {
      const row = await catalog.object(name, bytes(key), at, version)
      const expected = version === undefined ? rows[0] : rows.find((other) => other.version === version)
      assert.equal(row?.version, expected?.version)
      if (row !== undefined) assert.ok(plainVersions(index).some((line) => line.startsWith(shown(row))))
    }
  }
}
