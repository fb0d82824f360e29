/** A data folder with everything in it, of a cluster that was killed. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { asText, recordsOf } from '../../support/body.ts'
import { keys as credentials, send } from '../../../src/s3/test-plane.ts'
import { startWith } from '../../support/started.ts'
import { descendants, isAlive, until } from '../processes.ts'
import type { Dice } from './dice.ts'
import type { Victim } from './kinds.ts'
import { leave, type LeftFile } from './left.ts'

export const ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
}

export interface Whole {
  /** Where it is kept as it was. */
  readonly kept: string
  /** Where copies of it are to be: the catalog knows the place of the second aggregate. */
  readonly folder: string
  /** What each path of an object is answered with. */
  readonly objects: ReadonlyMap<string, string>
  /** The file that is damaged, what it is swapped with, and the paths of objects in both. */
  readonly victims: Readonly<
    Record<Victim, { readonly file: string; readonly partner: string; readonly paths: readonly string[] }>
  >
  /** Copies of files as they were before, by their paths. */
  readonly older: string
  /** The folder of the aggregate beside the first. */
  readonly second: string
  /** What interrupted work left, and the paths of objects whose files are swapped with some of it. */
  readonly left: { readonly files: readonly LeftFile[]; readonly paths: readonly string[] }
}

/** Paths of all files, sockets apart. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted()
}

export const withoutSockets = { recursive: true, filter: (file: string) => !file.endsWith('.sock') }

export async function makeWhole(root: string, dice: Dice): Promise<Whole> {
  const [folder, aside, older] = [join(root, 'data'), join(root, 'whole'), join(root, 'older')]
  const product = await startWith(['--data', folder], ENVIRONMENT)
  const objects = new Map<string, string>()
  const s3 = async (method: string, path: string, body?: string): Promise<string> => {
    const { status, text } = await send({ url: product.s3Http }, method, path, body === undefined ? {} : { body })
    assert.equal(status, 200, `${method} ${path}: ${text}`)
    return text
  }
  const put = async (path: string, body: string) => {
    await s3('PUT', path, body)
    objects.set(path, body)
  }
  const api = async (method: string, path: string, body: unknown) => {
    const reply = await product.rest.call(method, `/api${path}?return_timeout=60&return_records=true`, body)
    assert.ok(reply.status < 300, `${method} ${path}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  const volumeOf = async (bucket: string) => {
    const { body } = await product.rest.get(`/api/protocols/s3/buckets?name=${bucket}&fields=volume.uuid`)
    return asText(recordsOf(body)[0]?.['volume']?.['uuid'])
  }
  /** The files that came with it. */
  const added = async (act: () => Promise<unknown>): Promise<string[]> => {
    const before = new Set(filesIn(folder))
    await act()
    return filesIn(folder).filter((file) => !before.has(file))
  }
  const noise = (length: number): string => {
    const seed = String(dice(2 ** 32))
    const pieces = Array.from({ length: Math.ceil(length / 64) }, (_, n) =>
      createHash('sha256').update(`${seed} ${n}`).digest('hex'),
    )
    return pieces.join('').slice(0, length)
  }

  await s3('PUT', '/papers')
  const papers = await volumeOf('papers')
  for (const name of ['packed', 'partner', 'efficient']) {
    await api('POST', '/protocols/s3/buckets', { name, svm: { name: 'svm1' }, size: 2 ** 30 })
  }
  await api('PATCH', `/storage/volumes/${await volumeOf('efficient')}`, {
    efficiency: { compression: 'inline', dedupe: 'background' },
  })
  const small = async (bucket: string, key: string) => {
    const found = await added(() => put(`/${bucket}/${key}`, noise(300)))
    return found.find((file) => file.includes('/packs/')) ?? ''
  }
  const own = async (path: string, body: string) => {
    const file = (await added(() => put(path, body))).find((one) => one.includes('/objects/')) ?? ''
    assert.ok(file !== '', `${path} has no file of its own`)
    return file
  }

  const compacted = await small('papers', 'sound')
  const packed = await small('packed', 'first')
  const packOfPartner = await small('partner', 'first')
  // As they are now, they are older ones later.
  cpSync(folder, older, withoutSockets)
  await small('packed', 'second')
  const [large, largePartner] = [await own('/papers/large', noise(99_000)), await own('/papers/large-2', noise(99_000))]
  const replaced = await own('/papers/large-3', noise(99_000))
  const [compressed, compressedPartner] = [
    await own('/efficient/compressed', noise(300_000)),
    await own('/efficient/compressed-2', noise(300_000)),
  ]
  const twin = noise(70_000)
  const [deduplicated, deduplicatedPartner] = [
    await own('/efficient/deduplicated', twin),
    await own('/efficient/deduplicated-2', noise(70_000)),
  ]
  await own('/efficient/twin', twin)
  const partOf = async (key: string, completes: boolean) => {
    const begun = await s3('POST', `/papers/${key}?uploads`, '')
    const upload = /<UploadId>(.*?)<\/UploadId>/.exec(begun)?.[1] ?? ''
    const body = noise(80_000)
    let tag = ''
    const [file = ''] = await added(async () => {
      const reply = await send({ url: product.s3Http }, 'PUT', `/papers/${key}?partNumber=1&uploadId=${upload}`, {
        body,
      })
      tag = reply.headers.etag ?? ''
    })
    if (!completes) return file
    const part = `<Part><PartNumber>1</PartNumber><ETag>${tag}</ETag></Part>`
    await s3('POST', `/papers/${key}?uploadId=${upload}`, `<CompleteMultipartUpload>${part}</CompleteMultipartUpload>`)
    objects.set(`/papers/${key}`, body)
    return file
  }
  const [part, partPartner] = [await partOf('part', true), await partOf('part-2', true)]
  await partOf('unfinished', false)
  const [kept, keptPartner] = [await own('/papers/kept', noise(70_000)), await own('/papers/kept-2', noise(70_000))]
  await api('POST', `/storage/volumes/${papers}/snapshots`, { name: 'before' })
  for (const key of ['kept', 'kept-2']) {
    objects.set(`/papers-s3snap-before/${key}`, objects.get(`/papers/${key}`) ?? '')
    await put(`/papers/${key}`, noise(70_000))
  }
  // What an object had before is an older copy of its file.
  for (const file of [large, compressed, part, deduplicated, kept]) {
    mkdirSync(dirname(join(older, file)), { recursive: true })
    cpSync(join(folder, largePartner), join(older, file))
  }
  const second = await api('POST', '/storage/aggregates', { name: 'aggr2' })
  const uuid = asText(recordsOf(second)[0]?.['uuid'])
  await api('POST', '/storage/quota/rules', {
    svm: { name: 'svm1' },
    volume: { uuid: papers },
    type: 'user',
    users: [{ name: 'alice' }],
    space: { hard_limit: 2 ** 40 },
  })
  const lost = join('aggr1/lost-and-found/unknown', papers, `${basename(largePartner)}.1000`)
  mkdirSync(join(folder, dirname(lost)), { recursive: true })
  cpSync(join(folder, largePartner), join(folder, lost))
  writeFileSync(join(folder, 'catalog/catalog.db-wal.damaged-1000'), 'a log')
  await until(
    'ages are noted',
    () =>
      readdirSync(join(folder, 'aggr1')).includes('catalog-age.json') &&
      readdirSync(join(folder, `aggregate-${uuid}`)).includes('catalog-age.json'),
  )
  cpSync(join(folder, 'aggr1/catalog-age.json'), join(older, 'aggr1/catalog-age.json'))
  const pids = [product.pid, ...descendants(product.pid).map(({ pid }) => pid)]
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await until('all are gone', () => pids.every((pid) => !isAlive(pid)))
  const left = leave(folder, older, { body: replaced, pack: compacted })
  renameSync(folder, aside)
  return {
    kept: aside,
    folder,
    objects,
    older,
    second: `aggregate-${uuid}`,
    left: { files: left, paths: ['/papers/large-3', '/papers/sound'] },
    victims: {
      large: { file: large, partner: largePartner, paths: ['/papers/large', '/papers/large-2'] },
      compressed: {
        file: compressed,
        partner: compressedPartner,
        paths: ['/efficient/compressed', '/efficient/compressed-2'],
      },
      deduplicated: {
        file: deduplicated,
        partner: deduplicatedPartner,
        paths: ['/efficient/deduplicated', '/efficient/deduplicated-2'],
      },
      part: { file: part, partner: partPartner, paths: ['/papers/part', '/papers/part-2'] },
      kept: { file: kept, partner: keptPartner, paths: ['/papers-s3snap-before/kept', '/papers-s3snap-before/kept-2'] },
      pack: { file: packed, partner: packOfPartner, paths: ['/packed/first', '/packed/second', '/partner/first'] },
    },
  }
}
