import type { Ground } from '../../core/grounds.ts'

export const IPSPACES = 'network/ipspaces'
export const BROADCAST_DOMAINS = 'network/ethernet/broadcast-domains'
export const PORTS = 'network/ethernet/ports'
export const SUBNETS = 'network/ip/subnets'
export const ROUTES = 'network/ip/routes'
export const INTERFACES = 'network/ip/interfaces'

/** The name of what a cluster comes with. */
export const DEFAULT = 'Default'

/** Of Ethernet. */
export const MTU_BYTES = 1500

/** Held from a look at who uses what of the network until the commit that rests on it. */
export const NETWORK_LOCK: Ground = {
  lock: 'network',
  types: [IPSPACES, BROADCAST_DOMAINS, PORTS, SUBNETS, ROUTES, INTERFACES],
}
