/**
 * Whom a rule of an export policy means: a host, an address, a network (`192.0.2.0/24`, `192.0.2.0/255.255.255.0`), a
 * domain (`.example.com`) or a netgroup (`@admins`).
 */
import { failures } from '../../../../model/failure.ts'
import { address, netmask, Misfit } from '../../../../model/kinds/index.ts'

export const CLIENT_CHARACTERS_MAX = 255

/** What clients of the interface know these failures by. */
const codes = {
  domain: 1704036,
  network: 1704037,
  netgroup: 1704038,
  match: 1704039,
  maskedBits: 1704040,
  mask: 1704043,
  host: 1704044,
  domainCharacters: 1704045,
  twice: 1704050,
} as const

const HOST = /^(?!-)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/

/** Refuses what means nobody, and what is said twice. */
export function checkClients(matches: readonly string[]): void {
  for (const [at, match] of matches.entries()) {
    if (matches.indexOf(match) !== at) throw refused(match, 'is given twice.', codes.twice)
    checkClient(match)
  }
}

function checkClient(match: string): void {
  if (match.startsWith('@')) {
    if (match === '@') throw refused(match, 'lacks the name of a netgroup.', codes.netgroup)
  } else if (match.startsWith('.')) {
    if (match === '.') throw refused(match, 'lacks the name of a domain.', codes.domain)
    if (!HOST.test(match.slice(1))) throw refused(match, 'is not a domain.', codes.domainCharacters)
  } else if (match.includes('/')) checkNetwork(match)
  else if (!fits(address(), match) && !HOST.test(match)) {
    throw refused(match, 'is none of host, address, network, domain and netgroup.', codes.host)
  } else if (/^[\d.]+$/.test(match) && !fits(address(), match)) throw refused(match, 'is not an address.', codes.match)
}

function checkNetwork(match: string): void {
  const [network = '', mask = '', ...more] = match.split('/')
  if (network === '') throw refused(match, 'lacks the address of a network.', codes.network)
  if (more.length > 0 || !fits(address(), network)) throw refused(match, 'is not a network.', codes.match)
  const isV6 = network.includes(':')
  const isAll = mask === '0' || mask === '0.0.0.0'
  if (!isAll && (!fits(netmask(), mask) || prefixOf(mask) > (isV6 ? 128 : 32))) {
    throw refused(match, 'has no valid mask.', codes.mask)
  }
  if (!isV6 && bitsOf(network).includes('1', isAll ? 0 : prefixOf(mask))) {
    throw refused(match, 'has bits outside its mask.', codes.maskedBits)
  }
}

function prefixOf(mask: string): number {
  return Number(netmask().parse(mask))
}

function bitsOf(dotted: string): string {
  return dotted
    .split('.')
    .map((octet) => Number(octet).toString(2).padStart(8, '0'))
    .join('')
}

function fits(kind: ReturnType<typeof address>, value: string): boolean {
  try {
    kind.parse(value)
    return true
  } catch (misfit) {
    if (misfit instanceof Misfit) return false
    throw misfit
  }
}

function refused(match: string, problem: string, code: number) {
  return failures.invalid('clients.match', `The client "${match.slice(0, 80)}" ${problem}`, code)
}
