/** What one counter is, and the kinds of them. */
export interface CounterSchema {
  readonly name: string
  readonly description: string
  readonly type: 'delta' | 'rate' | 'average' | 'percent' | 'raw' | 'string'
  readonly unit: 'none' | 'per_sec' | 'b_per_sec' | 'kb_per_sec' | 'percent' | 'microsec' | 'millisec' | 'sec'
  readonly denominator?: string
  /** What is counted, and this is the sum of. Absent: it is counted under its own name. */
  readonly of?: readonly string[]
  /** It has a value for each of these, counted as `name.label`. */
  readonly labels?: readonly string[]
  /** How many of what is counted make one of it. */
  readonly divisor?: number
}

export type Sums = Readonly<Record<string, number>>

export function rate(name: string, description: string, of?: readonly string[]): CounterSchema {
  return { name, description, type: 'rate', unit: 'per_sec', ...(of && { of }) }
}

export function delta(name: string, description: string, of?: readonly string[]): CounterSchema {
  return { name, description, type: 'delta', unit: 'none', ...(of && { of }) }
}

export function bytes(name: string, description: string, of?: readonly string[]): CounterSchema {
  return { name, description, type: 'rate', unit: 'b_per_sec', ...(of && { of }) }
}

export function kibibytes(name: string, description: string, of: readonly string[]): CounterSchema {
  return { name, description, type: 'rate', unit: 'kb_per_sec', of, divisor: 1024 }
}

export function average(name: string, description: string, denominator: string, of?: readonly string[]): CounterSchema {
  return { name, description, type: 'average', unit: 'microsec', denominator, ...(of && { of }) }
}

/** A part of `denominator`: two samples of both give percent. */
export function percent(name: string, description: string, denominator: string, of?: readonly string[]): CounterSchema {
  return { name, description, type: 'percent', unit: 'percent', denominator, ...(of && { of }) }
}

/** Stands for a number that the machine does not tell. */
export const UNKNOWN = Number.NaN

/** What a row shows of a counter: nothing where that is not known of the object. */
export type Counted =
  | { readonly value: number }
  | { readonly values: readonly number[]; readonly labels: readonly string[] }
  | undefined

export function countedOf({ name, of = [name], labels, divisor = 1 }: CounterSchema, sums: Sums): Counted {
  if (labels !== undefined) return { values: labels.map((label) => sums[`${name}.${label}`] ?? 0), labels }
  const value = of.reduce((sum, counted) => sum + (sums[counted] ?? 0), 0) / divisor
  return Number.isNaN(value) ? undefined : { value: Math.floor(value) }
}
