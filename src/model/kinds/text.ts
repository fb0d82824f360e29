import type { ValueFailure } from '../failure.ts'
import { compareText, Misfit, quoted, type JsonSchema, type Kind, type Meanings } from './kind.ts'
import { textOf } from '../value.ts'

export interface TextLimits {
  readonly charactersMax?: number
  readonly charactersMin?: number
  /** The failure of a text without characters, where clients know it by a code of its own. */
  readonly emptyFailure?: ValueFailure
  readonly pattern?: RegExp
  /** Says what the pattern wants: `letters, digits and "_", beginning with a letter or "_"`. */
  readonly patternDoc?: string
  readonly format?: string
}

const CHARACTERS_MAX = 4096

/** Free text. Control characters other than tab and line ends are refused. */
export function text(limits: TextLimits = {}): Kind<string> {
  const charactersMax = limits.charactersMax ?? CHARACTERS_MAX
  const charactersMin = limits.charactersMin ?? 0
  return {
    name: 'text',
    hasWildcards: true,
    parse(value) {
      const given = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
      if (typeof given !== 'string') throw new Misfit(`${quoted(value)} is not a string.`)
      if (given.length > charactersMax) throw new Misfit(`It is longer than ${charactersMax} characters.`)
      if (given.length < charactersMin) {
        const message = charactersMin === 1 ? 'It is empty.' : `It is shorter than ${charactersMin} characters.`
        throw new Misfit(message, given === '' ? limits.emptyFailure : undefined)
      }
      if (hasControls(given)) throw new Misfit('It has control characters.')
      if (limits.pattern !== undefined && !limits.pattern.test(given)) {
        throw new Misfit(`${quoted(given)} does not fit. It takes ${limits.patternDoc ?? String(limits.pattern)}.`)
      }
      return given
    },
    parseText: (given) => given,
    print: (value) => textOf(value),
    compare: compareText,
    schema: textSchema(limits, charactersMax, charactersMin),
  }
}

/** The name of an object, as administrators choose it. */
export function name(limits: TextLimits = {}): Kind<string> {
  return {
    ...text({
      charactersMax: 203,
      charactersMin: 1,
      pattern: /^[A-Za-z_][A-Za-z0-9_.-]*$/,
      patternDoc: 'letters, digits, "_", "-" and ".", beginning with a letter or "_"',
      ...limits,
    }),
    name: 'name',
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(given: string): boolean {
  return UUID.test(given)
}

export function uuid(): Kind<string> {
  return {
    ...text({ format: 'uuid' }),
    name: 'uuid',
    parse(value) {
      if (typeof value !== 'string' || !UUID.test(value)) throw new Misfit(`${quoted(value)} is not a UUID.`)
      return value.toLowerCase()
    },
    parseText: (given) => given.toLowerCase(),
  }
}

/**
 * One of a closed set of words, each with what it means. Words may differ in case when given; they are kept as declared.
 */
export function oneOf<const Words extends Meanings>(meanings: Words): Kind<Extract<keyof Words, string>>
export function oneOf(meanings: Meanings): Kind<string> {
  const words = Object.keys(meanings)
  return {
    meanings,
    ...text(),
    name: 'oneOf',
    parse(value) {
      const found = words.find((word) => word === value || (typeof value === 'string' && word === value.toLowerCase()))
      if (found === undefined) throw new Misfit(`${quoted(value)} is none of ${words.join(', ')}.`)
      return found
    },
    // Tools list several with a blank after the comma (seen in na_ontap_license 22.7).
    parseText: (text) => text.trim(),
    schema: { type: 'string', enum: words, ...described(meanings) },
  }
}

/** The extension that documentation tools show beside the words. */
export function described(meanings: Meanings): JsonSchema {
  const docs = Object.entries(meanings).map(([word, meaning]): [string, string] => [
    word,
    typeof meaning === 'string' ? meaning : meaning.doc,
  ])
  return { 'x-enumDescriptions': Object.fromEntries(docs) }
}

/** A password or a key: taken, never given back. It has no pattern, as what does not fit one is quoted. */
export function secret(limits: Omit<TextLimits, 'pattern' | 'patternDoc'> = {}): Kind<string> {
  return {
    ...text(limits),
    name: 'secret',
    isSecret: true,
    schema: { type: 'string', format: 'password', writeOnly: true },
  }
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/
const IPV6_GROUPS = /^[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,7}$/i
const ADDRESS_CHARACTERS_MAX = 39

/** An IPv4 or IPv6 address. */
export function address(): Kind<string> {
  return {
    ...text({ format: 'ip' }),
    name: 'address',
    parse(value) {
      if (typeof value !== 'string' || !(IPV4.test(value) || isIpv6(value))) {
        throw new Misfit(`${quoted(value)} is not an IP address.`)
      }
      return value
    },
  }
}

/** Eight groups, or fewer with one `::` in their place. */
function isIpv6(given: string): boolean {
  if (given.length > ADDRESS_CHARACTERS_MAX) return false
  const [head = '', tail, ...more] = given.split('::')
  const groups = (part: string) => (part === '' ? 0 : IPV6_GROUPS.test(part) ? part.split(':').length : 9)
  if (tail === undefined) return groups(head) === 8
  return more.length === 0 && groups(head) + groups(tail) <= 7
}

function hasControls(given: string): boolean {
  for (let at = 0; at < given.length; at++) {
    const code = given.charCodeAt(at)
    if ((code < 32 && code !== 9 && code !== 10 && code !== 13) || code === 127) return true
  }
  return false
}

function textSchema(limits: TextLimits, charactersMax: number, charactersMin: number): JsonSchema {
  return {
    type: 'string',
    ...(charactersMax === CHARACTERS_MAX ? {} : { maxLength: charactersMax }),
    ...(charactersMin === 0 ? {} : { minLength: charactersMin }),
    ...(limits.pattern === undefined ? {} : { pattern: limits.pattern.source }),
    ...(limits.format === undefined ? {} : { format: limits.format }),
  }
}

const MASK_OCTETS = /^(?:(?:255|254|252|248|240|224|192|128|0)\.){3}(?:255|254|252|248|240|224|192|128|0)$/

/** A network mask: the length of the prefix, 1 or `min` to 128, or dotted. Kept and shown as the length. */
export function netmask({ min = 1 }: { readonly min?: 0 | 1 } = {}): Kind<string> {
  return {
    ...text(),
    name: 'netmask',
    parse(value) {
      const given = String(value)
      const length = MASK_OCTETS.test(given) ? prefixLength(given) : /^\d{1,3}$/.test(given) ? Number(given) : -1
      if (length < min || length > 128)
        throw new Misfit(`${quoted(value)} is neither a prefix length nor a dotted mask.`)
      return String(length)
    },
  }
}

/** The number of leading ones; -1 when ones follow a zero. */
function prefixLength(dotted: string): number {
  const bits = dotted
    .split('.')
    .map((octet) => Number(octet).toString(2).padStart(8, '0'))
    .join('')
  return /^1*0*$/.test(bits) ? bits.replaceAll('0', '').length : -1
}
