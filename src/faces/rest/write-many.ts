/**
 * PATCH and DELETE of a collection: what is said is done to each record that the query chooses, in its order. Jobs of
 * different records run beside each other, unless they are to be serial.
 *
 * Without `continue_on_failure` the first failure ends it, and what was done before stays done: clients look at
 * `num_records`, and at the link to those that are left.
 */
import { explainFailure } from '../../core/explain.ts'
import { failureOf, isActive } from '../../core/jobs/jobs.ts'
import { findInstance, insistOnParents, type Page } from '../../core/read/read.ts'
import type { Failure } from '../../model/failure.ts'
import type { Json, Row } from '../../model/value.ts'
import { changes, changesNothing } from '../requests/drafts.ts'
import { readPage } from '../requests/reads.ts'
import type { RestReply } from './answer.ts'
import { encodePlace, keyFields, manyArguments, RETURN_TIMEOUT_SECONDS_MAX, type ManyArguments } from './arguments.ts'
import type { Exchange } from './exchange.ts'
import { failed, printFailure } from './failed.ts'
import { jobPath } from './links.ts'
import { nextHref } from './read.ts'

export async function changeMany(exchange: Exchange, verb: 'modify' | 'remove', body: unknown): Promise<RestReply> {
  const { cluster, behaviour, match, resource, asked } = exchange
  const args = manyArguments(resource, asked.query, cluster.release, behaviour[verb]?.args)
  const draft = verb === 'modify' ? changes(exchange, body) : {}
  await insistOnParents(cluster, behaviour, match.pathValues)
  const keys = new Set(keyFields(resource, cluster.release))
  const page = await readPage(exchange, { ...args, fields: keys, offset: 0, args: {} })
  const done =
    verb === 'modify' && changesNothing(draft, args.args)
      ? { seen: page.rows.length, changed: page.rows, jobs: [], failures: [], isAllOver: true }
      : await changeEach(exchange, verb, draft, page, args)
  return answerOf(exchange, page, args, done, keys)
}

/** So many jobs of one request run at once; the next waits, whatever the timeout, so that others find room. */
const JOBS_AT_ONCE_MAX = 100

interface Done {
  /** How many rows of the page were looked at. */
  readonly seen: number
  readonly changed: readonly Row[]
  readonly jobs: readonly string[]
  readonly failures: readonly Failure[]
  readonly isAllOver: boolean
}

async function changeEach(
  exchange: Exchange,
  verb: 'modify' | 'remove',
  draft: Row,
  page: Page,
  args: ManyArguments,
): Promise<Done> {
  const { cluster, behaviour, match } = exchange
  const { jobs: all } = exchange.asked.face.actions
  const endMs = cluster.system.clock.elapsed() + args.returnTimeoutSeconds * 1000
  const changed: Row[] = []
  const jobs: string[] = []
  const problems: Failure[] = []
  const goesOn = () => problems.length === 0 || args.continueOnFailure
  let seen = 0
  let active = 0
  /** Waits for a job while there is time, and notes what became of it. */
  const settle = async (uuid: string) => {
    const ended = await all.wait(uuid, Math.max(0, endMs - cluster.system.clock.elapsed()))
    if (ended['state'] === 'failure') problems.push(failureOf(ended))
    else if (isActive(ended)) active++
  }
  const running: string[] = []
  for (const row of page.rows) {
    if (!goesOn() || (args.isSerial && active > 0)) break
    seen++
    const fresh = await findInstance(cluster, behaviour, match.pathValues, exchange.instanceOf(row))
    // It went meanwhile.
    if (fresh === undefined) continue
    try {
      const { job } = await exchange.perform(verb, { draft, row: fresh, args: args.args })
      changed.push(row)
      if (job === undefined) continue
      jobs.push(job['uuid'])
      if (args.isSerial) await settle(job['uuid'])
      else if (running.push(job['uuid']) >= JOBS_AT_ONCE_MAX) {
        await all.wait(running.shift() ?? '', RETURN_TIMEOUT_SECONDS_MAX * 1000)
      }
    } catch (cause) {
      problems.push(explainFailure(cause))
    }
  }
  if (!args.isSerial) for (const uuid of jobs) await settle(uuid)
  return { seen, changed, jobs, failures: problems, isAllOver: active === 0 }
}

function answerOf(
  exchange: Exchange,
  page: Page,
  args: ManyArguments,
  done: Done,
  keys: ReadonlySet<string>,
): RestReply {
  const { asked } = exchange
  const place = done.seen < page.rows.length ? page.place(done.seen - 1) : page.next
  const links: Record<string, Json> = exchange.links === 'none' ? {} : { self: { href: asked.request.target } }
  if (place !== undefined) links['next'] = { href: nextHref(exchange, encodePlace(place), args.limit) }
  const [problem] = done.failures
  const body: Record<string, Json> = {
    num_records: done.changed.length,
    // Where nothing is a job there is no list: clients take the first of it.
    ...(done.jobs.length === 0 ? {} : { jobs: done.jobs.map(jobLink) }),
    ...(args.returnRecords ? { records: done.changed.map(exchange.printer(keys)) } : {}),
    ...(Object.keys(links).length === 0 ? {} : { _links: links }),
  }
  if (problem === undefined || args.continueOnFailure) {
    const errors = done.failures.map((each) => printFailure(each, asked.dialect, asked.request.headers))
    const isOver = done.isAllOver && (done.jobs.length === 0 || args.returnTimeoutSeconds > 0)
    return {
      status: isOver ? 200 : 202,
      headers: exchange.headers(),
      body: { ...body, ...(errors.length === 0 ? {} : { errors }) },
    }
  }
  const refused = failed(asked.face, asked.request, asked.dialect, problem)
  return { ...refused, body: { ...refused.body, ...(done.changed.length === 0 ? {} : body) } }
}

function jobLink(uuid: string): Json {
  return { uuid, _links: { self: { href: jobPath(uuid) } } }
}
