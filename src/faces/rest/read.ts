/** GET of one record, and of a page of a collection. */
import { inTurns } from '../../core/time/turns.ts'
import type { Json } from '../../model/value.ts'
import { readOne, readPage } from '../requests/reads.ts'
import type { RestReply } from './answer.ts'
import { encodePlace, readArguments } from './arguments.ts'
import type { Exchange } from './exchange.ts'
import { getResults } from './write-listed.ts'

export async function getInstance(exchange: Exchange): Promise<RestReply> {
  const { cluster, resource, asked } = exchange
  const args = readArguments(resource, asked.query, asked.dialect, cluster.release, false)
  const row = await readOne(exchange, args.fields)
  const write = exchange.textPrinter(args.fields)
  return {
    status: 200,
    headers: exchange.headers(),
    // Only few look at it.
    get body() {
      return exchange.printer(args.fields)(row)
    },
    ...(write === undefined ? {} : { text: write(row) }),
  }
}

export async function getCollection(exchange: Exchange): Promise<RestReply> {
  const { cluster, behaviour, resource, asked } = exchange
  const results = asked.query.get('job_results_uuid')
  if (results !== null) return getResults(exchange, results)
  const args = readArguments(resource, asked.query, asked.dialect, cluster.release, true, behaviour.readArgs)
  const page = await readPage(exchange, args)
  const links: Record<string, Json> = exchange.links === 'none' ? {} : { self: { href: asked.request.target } }
  const headers = exchange.headers()
  if (page.next !== undefined) {
    const href = nextHref(exchange, encodePlace(page.next), args.limit)
    links['next'] = { href }
    headers['link'] = `<${href}>; rel="next"`
  }
  const print = exchange.printer(args.fields)
  const records: Json[] = []
  for await (const rows of inTurns(cluster.system, page.rows)) records.push(...rows.map(print))
  return {
    status: 200,
    headers,
    body: {
      ...(args.returnRecords ? { records } : {}),
      num_records: page.count,
      ...(Object.keys(links).length === 0 ? {} : { _links: links }),
    },
  }
}

/** The same request from a place on. */
export function nextHref({ asked }: Exchange, start: string, limit: number): string {
  const next = new URLSearchParams(asked.query)
  next.delete('offset')
  next.set('start', start)
  if (!next.has('max_records') && !next.has('limit')) next.set('max_records', String(limit))
  return `${asked.path}?${next.toString()}`
}
