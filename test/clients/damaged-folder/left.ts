/** What interrupted work leaves in a data folder. Each has an older copy that is another one, and something to swap it with. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

export interface LeftFile {
  readonly file: string
  readonly partner: string
}

/** Files of objects that are served: the left ones are of these, and are swapped with them. */
export interface LeftOf {
  readonly body: string
  readonly pack: string
}

const ENGINE = '0123456789abcdef'
const GONE = 'aggr1/removing/00000000-0000-4000-8000-000000000000.0'
const STAGED = ['cluster.key', 'certificates/server.key', 'catalog/catalog.db'] as const

/** Leaves what a crash may leave of each kind: half of what was to be written. */
export function leave(folder: string, older: string, { body, pack }: LeftOf): readonly LeftFile[] {
  const bodyOut = `${GONE}/objects/${basename(dirname(body))}/${basename(body)}`
  const packOut = `${GONE}/packs/${basename(pack)}`
  const left: readonly (readonly [file: string, from: string, partner: string])[] = [
    ['cluster.key.new', 'cluster.key', 'certificates.new/server.key'],
    ['certificates.new/server.key', 'certificates/server.key', 'certificates.new/server.crt'],
    ['certificates.new/server.crt', 'certificates/server.crt', 'aggr1/spare.new'],
    ['endpoints.json.new', 'endpoints.json', 'endpoints.json'],
    ['credentials.env.new', 'endpoints.json', 'credentials.env'],
    ['rebuild-report.txt.new', 'endpoints.json', 'restore-report.txt.new'],
    ['restore-report.txt.new', 'endpoints.json', 'rebuild-report.txt.new'],
    ['catalog/catalog.db-reserve.new', 'endpoints.json', 'catalog/catalog.db-reserve'],
    ['aggr1/aggregate.json.new', 'aggr1/aggregate.json', 'aggr1/spare.new'],
    ['aggr1/catalog-age.json.new', 'aggr1/catalog-age.json', 'aggr1/catalog-age.json'],
    ['aggr1/spare.new', 'aggr1/spare', 'aggr1/spare'],
    [`${body}.${ENGINE}`, body, body],
    [`${pack}.${ENGINE.slice(0, 12)}.new`, pack, pack],
    [bodyOut, body, packOut],
    [packOut, pack, bodyOut],
    ...STAGED.flatMap((file) =>
      ['replaced-1000', 'restoring'].map((top) => [`${top}/${file}`, file, 'aggr1/spare.new'] as const),
    ),
  ]
  for (const [file, from] of left) {
    const bytes = readFileSync(join(folder, from))
    write(join(folder, file), bytes.subarray(0, bytes.length / 2))
    write(join(older, file), bytes.subarray(0, bytes.length / 3))
  }
  // What is moved aside is as it was.
  for (const file of STAGED) cpSync(join(folder, file), join(folder, 'replaced-1000', file))
  return left.map(([file, , partner]) => ({ file, partner }))
}

function write(file: string, bytes: Buffer): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, bytes)
}
