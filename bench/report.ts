/** Sums loads up, prints them as a table, keeps them as JSON. */
import type { Held } from './loop-probe.ts'
import type { Load } from './order.ts'

export interface Figures {
  readonly requests: number
  readonly perSecond: number
  readonly megabytesPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

export type Line = 'product' | 'bare' | 'nginx' | 'disk'

export interface Row {
  readonly what: string
  readonly clients: number
  readonly lines: Partial<Record<Line, Figures>>
  /** How long turns of the product's event loops took. */
  readonly held?: Held
  readonly note?: string
}

export function figures(loads: readonly Load[]): Figures {
  const all = Float64Array.from(loads.flatMap((load) => [...load.milliseconds])).toSorted()
  const seconds = sum(loads.map((load) => load.seconds))
  const failed = sum(loads.flatMap((load) => Object.values(load.failures)))
  const at = (share: number) => all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? Number.NaN
  return {
    requests: all.length,
    perSecond: (all.length - failed) / seconds,
    megabytesPerSecond: sum(loads.map((load) => load.bytes)) / 1e6 / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    failed,
  }
}

const HEAD = [
  '',
  'clients',
  'requests/s',
  'MB/s',
  'p50 ms',
  'p99 ms',
  'of bare',
  'of nginx',
  'of disk',
  'held p99',
  'held max',
]
const WIDTHS = [46, 7, 10, 7, 8, 8, 7, 8, 7, 8, 8]

export const head = () => `${printed(HEAD)}\n${'-'.repeat(sum(WIDTHS) + 2 * (WIDTHS.length - 1))}`

export function printRow({ what, clients, lines, held, note }: Row): string {
  const { product } = lines
  if (product === undefined) return ''
  const ratio = (line: Line) => {
    const other = lines[line]
    return other === undefined || other.perSecond === 0
      ? ''
      : `${Math.round((product.perSecond / other.perSecond) * 100)} %`
  }
  const cells = [
    what,
    String(clients),
    rounded(product.perSecond),
    product.megabytesPerSecond < 0.05 ? '' : rounded(product.megabytesPerSecond),
    rounded(product.p50Ms),
    rounded(product.p99Ms),
    ratio('bare'),
    ratio('nginx'),
    ratio('disk'),
    held === undefined ? '' : rounded(held.p99Ms),
    held === undefined ? '' : rounded(held.maxMs),
  ]
  const extra = [note, product.failed > 0 ? `${product.failed} FAILED` : undefined].filter((text) => text !== undefined)
  return printed(cells) + (extra.length === 0 ? '' : `  ${extra.join('; ')}`)
}

function printed(cells: readonly string[]): string {
  return cells.map((cell, at) => (at === 0 ? cell.padEnd(WIDTHS[0] ?? 0) : cell.padStart(WIDTHS[at] ?? 0))).join('  ')
}

function rounded(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
