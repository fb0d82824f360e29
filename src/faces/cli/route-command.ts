/** Finds the command that a request is one of. */
import type { Cluster } from '../../core/cluster.ts'
import type { Registry } from '../../model/registry.ts'
import { isServed } from '../../model/release.ts'
import { commandTree, type Command, type CommandTree } from './tree.ts'

const trees = new WeakMap<Registry, CommandTree>()

/** Nothing where the path is no command, or a resource of its own. */
export function commandAt(cluster: Cluster, path: string): Command | undefined {
  const [api, ...words] = path.split('/').filter((word) => word !== '')
  if (api !== 'api' || words[0] !== 'private' || words[1] !== 'cli') return undefined
  const { registry } = cluster
  if (registry.match(words) !== undefined) return undefined
  const tree = trees.get(registry) ?? commandTree(registry, cluster.release)
  trees.set(registry, tree)
  const command = tree.get(words.slice(2).join(' '))
  return command !== undefined && isServed(command.resource.since, cluster.release) ? command : undefined
}
