/**
 * Whom a rule of an export policy means: a host, an address, a network (`192.0.2.0/24`, `192.0.2.0/255.255.255.0`), a
 * domain (`.example.com`) or a netgroup (`@admins`).
 */
import { failure } from '../../../../model/failure.ts'
import { address, netmask, Misfit } from '../../../../model/kinds/index.ts'

export const CLIENT_CHARACTERS_MAX = 255

const HOST = /^(?!-)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/

/** Refuses what means nobody, and what is said twice. */
export function checkClients(matches: readonly string[]): void {
  for (const [at, match] of matches.entries()) {
    if (matches.indexOf(match) !== at) throw failure('exportClientTwice', named(match))
    checkClient(match)
  }
}

function checkClient(match: string): void {
  if (match.startsWith('@')) {
    if (match === '@') throw failure('exportNetgroupMissing', named(match))
  } else if (match.startsWith('.')) {
    if (match === '.') throw failure('exportDomainMissing', named(match))
    if (!HOST.test(match.slice(1))) throw failure('exportDomainMalformed', named(match))
  } else if (match.includes('/')) checkNetwork(match)
  else if (!fits(address(), match) && !HOST.test(match)) {
    throw failure('exportClientMalformed', named(match))
  } else if (/^[\d.]+$/.test(match) && !fits(address(), match)) throw failure('exportAddressMalformed', named(match))
}

function checkNetwork(match: string): void {
  const [network = '', mask = '', ...more] = match.split('/')
  if (network === '') throw failure('exportNetworkMissing', named(match))
  if (more.length > 0 || !fits(address(), network)) throw failure('exportNetworkMalformed', named(match))
  const isV6 = network.includes(':')
  const isAll = mask === '0' || mask === '0.0.0.0'
  if (!isAll && (!fits(netmask(), mask) || prefixOf(mask) > (isV6 ? 128 : 32))) {
    throw failure('exportMaskMalformed', named(match))
  }
  if (!isV6 && bitsOf(network).includes('1', isAll ? 0 : prefixOf(mask))) {
    throw failure('exportBitsOutsideMask', named(match))
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

function named(match: string) {
  return { client: match.slice(0, 80) }
}
