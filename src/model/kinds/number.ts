import { compareNumbers, Misfit, quoted, type Kind, type Unit } from './kind.ts'

export interface NumberLimits {
  readonly min?: number
  readonly max?: number
}

export interface NumberFacts extends NumberLimits {
  readonly unit?: Unit
}

/** A whole number. A string of digits is taken too: automation tools send them. */
export function count(limits: NumberFacts = {}): Kind<number> {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = limits
  const parse = (value: unknown): number => {
    const given = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value
    if (typeof given !== 'number' || !Number.isSafeInteger(given))
      throw new Misfit(`${quoted(value)} is not an integer.`)
    if (given < min || given > max) throw new Misfit(`${given} is outside ${min}..${max}.`)
    return given
  }
  return {
    name: 'count',
    hasWildcards: false,
    parse,
    parseText: (text) => {
      const given = Number(text)
      if (text.trim() === '' || !Number.isFinite(given)) throw new Misfit(`${quoted(text)} is not a number.`)
      return given
    },
    print: (value) => Number(value),
    compare: compareNumbers,
    ...(limits.unit === undefined ? {} : { unit: limits.unit }),
    schema: {
      type: 'integer',
      ...(limits.unit === undefined ? {} : { 'x-unit': limits.unit }),
      ...(limits.min === undefined ? {} : { minimum: limits.min }),
      ...(limits.max === undefined ? {} : { maximum: limits.max }),
    },
  }
}

/** A whole part of a hundred. */
export function percent(limits: NumberLimits = {}): Kind<number> {
  return count({ ...limits, unit: 'percent' })
}

/** A number that need not be whole, such as a ratio. */
export function decimal(): Kind<number> {
  const whole = count()
  return {
    ...whole,
    name: 'decimal',
    parse(value) {
      const given = typeof value === 'string' && /^-?\d{1,16}(\.\d{1,16})?$/.test(value) ? Number(value) : value
      if (typeof given !== 'number' || !Number.isFinite(given)) throw new Misfit(`${quoted(value)} is not a number.`)
      return given
    },
    schema: { type: 'number' },
  }
}

const UNITS: Readonly<Record<string, number>> = { k: 10, m: 20, g: 30, t: 40, p: 50 }

/** A number of bytes: an integer, or a string with a 1024-based unit such as `1t`, `20MB`, `1.5 GiB`. Printed as integer. */
export function bytes(limits: NumberLimits = {}): Kind<number> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = limits
  const parse = (value: unknown): number => {
    const given = typeof value === 'string' ? parseSize(value) : value
    if (typeof given !== 'number' || !Number.isSafeInteger(given)) {
      throw new Misfit(`${quoted(value)} is not a size. It takes bytes, or a number with k, m, g, t or p.`)
    }
    if (given < min) throw new Misfit(`${given} bytes is below the minimum of ${min}.`)
    if (given > max) throw new Misfit(`${given} bytes is above the maximum of ${max}.`)
    return given
  }
  return {
    ...count({ unit: 'bytes' }),
    name: 'bytes',
    parse,
    // Sums of sizes may be more than clients can read as exact numbers.
    print: (value) => Math.min(Number(value), Number.MAX_SAFE_INTEGER),
    parseText: (text) => {
      const given = parseSize(text)
      if (given === undefined) throw new Misfit(`${quoted(text)} is not a size.`)
      return given
    },
    schema: {
      type: 'integer',
      format: 'int64',
      'x-unit': 'bytes',
      description: 'Bytes. Requests may use a string with a 1024-based unit, such as "1t" or "20MB".',
      ...(limits.min === undefined ? {} : { minimum: limits.min }),
      ...(limits.max === undefined ? {} : { maximum: limits.max }),
    },
  }
}

export function parseSize(text: string): number | undefined {
  const match = /^\s*(\d{1,16}(?:\.\d{1,6})?)\s*(?:([kmgtp])(?:i?b)?|b)?\s*$/i.exec(text)
  if (match === null) return undefined
  const size = Number(match[1]) * 2 ** (UNITS[(match[2] ?? '').toLowerCase()] ?? 0)
  return Number.isSafeInteger(Math.round(size)) ? Math.round(size) : undefined
}

/** 12 MB, 1.5 GB: for messages. */
export function printSize(size: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB']
  let value = size
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${value >= 10 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)} ${units[unit] ?? ''}`
}

/** True or false, or that as text in any case: Python writes `True` where it puts one into an address. */
export function flag(): Kind<boolean> {
  const parse = (value: unknown): boolean => {
    const word = typeof value === 'string' ? value.toLowerCase() : value
    if (word === true || word === 'true') return true
    if (word === false || word === 'false') return false
    throw new Misfit(`${quoted(value)} is neither true nor false.`)
  }
  return {
    name: 'flag',
    hasWildcards: false,
    parse,
    parseText: parse,
    print: (value) => value === true,
    compare: compareNumbers,
    schema: { type: 'boolean' },
  }
}
