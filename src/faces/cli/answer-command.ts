/**
 * `/private/cli`: the commands of the shell as addresses. A command is another spelling of a resource: its names become
 * fields of the model, what it asks for becomes reads and verbs, and the records are said in its words.
 *
 *     GET private/cli/volume?fields=used&vserver=svm1  ─▶  storage/volumes: fields space.used, svm.name, name; svm.name is svm1
 *     {"vserver": "svm1", "volume": "vol1", "used": 0} ◀─  {"svm.name": "svm1", "name": "vol1", "space.used": 0}
 *
 * What lies within other things, as snapshots do, is read within each of them. Changes name records by query. What no field
 * says is made of fields where it is shown, and filtered by after that.
 */
import type { Behaviour } from '../../core/behaviour.ts'
import { type Attempt, MethodRefused } from '../requests/admission.ts'
import { insistOnAddress } from '../rest/address.ts'
import type { RestReply, RestRequest } from '../rest/answer.ts'
import type { LetIn } from '../rest/exchange.ts'
import { change } from './change.ts'
import { bodyOf, clearing, givenOf } from './given.ts'
import { create, createPart } from './make.ts'
import { CommandQuery, literal } from './query.ts'
import { Faulted, Reach } from './reach.ts'
import { print, show } from './show.ts'
import type { Command } from './tree.ts'

export async function answerCommand(
  letIn: LetIn,
  command: Command,
  request: RestRequest,
  attempt: Attempt,
): Promise<RestReply> {
  const { cluster } = letIn.face.actions
  const allowed = allowedFor(command, cluster.behaviour(command.resource.type))
  const refused = () => new MethodRefused(request.method, request.target.split('?', 1)[0] ?? '', allowed)
  const reach = new Reach(letIn, request, attempt)
  insistOnAddress(request.target)
  const query = new CommandQuery(command, queryOf(request), cluster.release)
  const { part, prints } = command
  try {
    switch (request.method) {
      case 'OPTIONS':
        return { status: 200, headers: { allow: allowed.join(', ') }, body: {} }
      case 'GET':
      case 'HEAD':
        return await show(reach, query)
      case 'POST':
        if (prints !== undefined) return await print(reach, query, prints)
        return await (part === undefined ? create(reach, query) : createPart(reach, query, part))
      case 'PATCH':
        return await change(reach, query, 'PATCH', givenOf(command, request))
      case 'DELETE':
        return await (part === undefined
          ? change(reach, query, 'DELETE', {})
          : change(reach, query, 'PATCH', clearing(command)))
      default:
        throw refused()
    }
  } catch (cause) {
    if (cause instanceof Faulted) return cause.reply
    throw cause instanceof MethodRefused ? refused() : cause
  }
}

function queryOf(request: RestRequest): URLSearchParams {
  const mark = request.target.indexOf('?')
  const query = new URLSearchParams(mark < 0 ? '' : request.target.slice(mark + 1))
  // What is to be removed may be named in the body as well (seen in the vendor's Ansible collection, 2026-11).
  if (request.method === 'DELETE') {
    for (const [name, value] of Object.entries(bodyOf(request))) query.append(name, literal(value))
  }
  return query
}

function allowedFor({ part, prints, resource }: Command, { create, modify, remove }: Behaviour): string[] {
  const isMade = create !== undefined && resource.createMethod === 'POST' && !resource.isSingleton
  return [
    'GET',
    'HEAD',
    'OPTIONS',
    ...(isMade || part !== undefined || prints !== undefined ? ['POST'] : []),
    ...(modify === undefined ? [] : ['PATCH']),
    ...(remove === undefined && part === undefined ? [] : ['DELETE']),
  ]
}
