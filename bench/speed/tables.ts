/** What the parts of docs/performance.md have in common. */
import type { PayloadSigning } from './order.ts'
import type { Kept, Result } from './results.ts'

export const PRODUCT = 'Holdfast'

export function find(
  { results }: Kept,
  row: string,
  server: string,
  isSecure: boolean,
  payload: PayloadSigning,
): Result | undefined {
  return results.find(
    (each) => each.row === row && each.server === server && each.isSecure === isSecure && each.payload === payload,
  )
}

export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

export function thousands(number: number): string {
  const rounded = number >= 100 ? Math.round(number) : number
  return rounded.toLocaleString('en-US')
}
