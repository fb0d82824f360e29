/** GET of a command: a page of its records, from one collection after the other, and what it shows beside them. */
import { inTurns } from '../../core/time/turns.ts'
import type { Json, Row } from '../../model/value.ts'
import type { RestReply } from '../rest/answer.ts'
import { decodePlace } from '../rest/arguments.ts'
import { collections } from './collections.ts'
import type { Meaning } from './names.ts'
import { elementsOf, memberOf } from './phrases.ts'
import type { CommandQuery, Filters, Reading, Start } from './query.ts'
import type { Reach, Records } from './reach.ts'
import { type Say, Sights, speaker } from './say.ts'
import type { Source } from './tree.ts'

export async function show(reach: Reach, query: CommandQuery): Promise<RestReply> {
  const { command } = query
  const wanted = query.wanted(command)
  const filters = query.filters(command)
  const reading = query.reading(command, wanted, filters)
  const sights = new Sights(reach)
  let say: Promise<Say> | undefined
  const speak = () => (say ??= speaker(command, reading, wanted, filters.conditions, sights))
  const said: Json[] = []
  const next = await readPages(reach, query, filters, reading, async (rows) => {
    for (const one of await sayAll(reach, rows, await speak())) said.push(one)
  })
  // Who may not see what phrases look into is refused where there are no records, too.
  await speak()
  if (!query.given.has('start')) {
    for (const other of command.others) said.push(...(await besides(reach, query, other, sights)))
  }
  const [path = ''] = reach.request.target.split('?', 1)
  const links = next === undefined ? {} : { _links: { next: { href: `${path}?${query.from(next)}` } } }
  return { status: 200, headers: {}, body: { records: said, num_records: said.length, ...links } }
}

/** Runs a command that only tells something: its records, and what the shell would print of them. */
export async function print(reach: Reach, query: CommandQuery, name: string): Promise<RestReply> {
  const reply = await show(reach, query)
  const printed = elementsOf(reply.body['records']).map((record) => {
    const value = memberOf(record, name)
    return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  })
  return { ...reply, body: { ...reply.body, cli_output: `${printed.join('\n')}\n` } }
}

/** Reads a page, and hands on the rows of each collection: whole rows of all of them would take much memory. */
async function readPages(
  reach: Reach,
  query: CommandQuery,
  filters: Filters,
  reading: () => Reading,
  take: (rows: readonly Row[]) => Promise<void>,
): Promise<Start | undefined> {
  const [limit, offset, start, orders] = [query.limit(), query.offset(), query.start(), query.orders()]
  const { resource } = query.command
  const after = start === undefined || start.place === '' ? undefined : decodePlace(start.place)
  let left = limit
  for (const { pathValues, parent } of await collections(reach, query, filters.plain)) {
    if (start !== undefined && parent < start.parent) continue
    if (left !== undefined && left <= 0) return { parent, place: '' }
    const page: Records = await reach.read(resource, { pathValues }, () => ({
      ...reading(),
      orders,
      offset,
      limit: left ?? reach.letIn.dialect.pageByDefault,
      after: start?.parent === parent ? after : undefined,
    }))
    await take(page.rows)
    if (left !== undefined) left -= page.rows.length
    if (page.next !== undefined) return { parent, place: page.next }
  }
  return undefined
}

/** What is shown beside the command's own records. Filters that it does not know are of the others. */
async function besides(reach: Reach, query: CommandQuery, source: Source, sights: Sights): Promise<Json[]> {
  const { command } = query
  if (!query.isOf(source)) return []
  const keys = command.names.keys.map(([name]) => name)
  const asked = query.wanted(command).map(([name]) => name)
  const wanted = [...new Set([...keys, ...asked])].flatMap((name): [string, Meaning][] => {
    const meaning = source.names.meaningOf(name)
    return meaning === undefined ? [] : [[name, meaning]]
  })
  const filters = query.filters(source)
  const reading = query.reading(source, wanted, filters)
  const limit = reach.letIn.dialect.pageByDefault
  const { rows } = await reach.read(source.resource, { pathValues: {} }, () => ({ ...reading(), limit }))
  return sayAll(reach, rows, await speaker(source, reading, wanted, filters.conditions, sights))
}

async function sayAll({ cluster }: Reach, rows: readonly Row[], say: Say): Promise<Json[]> {
  const said: Json[] = []
  for await (const some of inTurns(cluster.system, rows)) {
    for (const row of some) {
      const one = say(row)
      if (one !== undefined) said.push(one)
    }
  }
  return said
}
