/** Finds the command that a request is one of, and has it answered. */
import type { Cluster } from '../../core/cluster.ts'
import { mayDo } from '../../model/access.ts'
import { failure } from '../../model/failure.ts'
import type { Registry } from '../../model/registry.ts'
import { isServed } from '../../model/release.ts'
import { Attempt, audited } from '../requests/admission.ts'
import type { RestReply, RestRequest } from '../rest/answer.ts'
import { type LetIn, visitorOf } from '../rest/exchange.ts'
import { answerCommand } from './answer-command.ts'
import { commandTree, type Command, type CommandTree } from './tree.ts'

/**
 * The answer to a command of the shell; nothing where the request is none. Who calls has been found out by then. The role
 * has to let the command in, and then each resource that it reads or changes. A change that is refused before it reaches a
 * record is in the audit trail as the command, others as what is done to the record.
 */
export async function answerAsCommand(letIn: LetIn, request: RestRequest): Promise<RestReply | undefined> {
  const { face, role } = letIn
  const path = request.target.split('?', 1)[0] ?? ''
  const command = commandAt(face.actions.cluster, path)
  if (command === undefined) return undefined
  const { method } = request
  const attempt = new Attempt(visitorOf(letIn, request), method, path)
  return audited(attempt, () => {
    if (!mayDo(role, path, method)) throw failure('roleDenies', { role: role.name, method, path })
    return answerCommand(letIn, command, request, attempt)
  })
}

const trees = new WeakMap<Registry, CommandTree>()

/** Nothing where the path is no command, or a resource of its own. */
function commandAt(cluster: Cluster, path: string): Command | undefined {
  const [api, ...words] = path.split('/').filter((word) => word !== '')
  if (api !== 'api' || words[0] !== 'private' || words[1] !== 'cli') return undefined
  const { registry } = cluster
  if (registry.match(words) !== undefined) return undefined
  const tree = trees.get(registry) ?? commandTree(registry, cluster.release)
  trees.set(registry, tree)
  const command = tree.get(words.slice(2).join(' '))
  return command !== undefined && isServed(command.resource.since, cluster.release) ? command : undefined
}
