/**
 * Events that the cluster can log, by name. Names follow the dotted style of the field. Events of one resource alone are
 * declared in its file, by `ownEvents`.
 */
import { type NamedRows, namedRows } from '../named-rows.ts'
import type { Value } from '../value.ts'
import { aggregates } from './aggregates.ts'
import { applications } from './applications.ts'
import { buckets } from './buckets.ts'
import { cluster } from './cluster.ts'
import { volumes } from './volumes.ts'
import type { EventEntry } from './entry.ts'

export const eventTable = {
  ...cluster,
  ...aggregates,
  ...volumes,
  ...buckets,
  ...applications,
} as const satisfies Readonly<Record<string, EventEntry>>

export type EventTable = typeof eventTable
export type EventName = keyof EventTable

/** An event that one resource declares for itself. */
export interface OwnEvent extends EventEntry {
  readonly name: string
}

/** What events are logged by: names of rows of the table, and rows of a resource. */
export type AnyEvent = EventName | OwnEvent

/**
 * The events that a resource declares for itself. They are given to `define`, and are then as good as rows of the table.
 *
 *   const events = ownEvents({ 'app.log.err': { severity: 'error', … } })
 *   cluster.event(events['app.log.err'], { event_description: 'Out of tape.' })
 */
export function ownEvents<const Rows extends Readonly<Record<string, EventEntry>>>(rows: Rows): NamedRows<Rows> {
  return namedRows(rows)
}

/** What must and may be said with an event. Values are those of rows; the table says what they are. */
export type EventParameters<Of extends AnyEvent> = Of extends EventName
  ? ParametersOf<EventTable[Of]>
  : ParametersOf<Of>

type ParametersOf<Row> = Row extends { readonly parameters: infer Parameters } ? Said<Parameters> : never

type Said<Parameters> = {
  readonly [Name in keyof Parameters as Parameters[Name] extends `${string}?` ? never : Name]: Value
} & {
  readonly [Name in keyof Parameters as Parameters[Name] extends `${string}?` ? Name : never]?: Value
}
