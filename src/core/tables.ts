/** All failures and events there are: the rows of the common tables, and those that resources declare for themselves. */
import type { EventEntry } from '../model/events/entry.ts'
import { eventTable } from '../model/events/index.ts'
import type { FailureEntry } from '../model/failures/entry.ts'
import { failureTable } from '../model/failures/index.ts'
import type { Behaviour } from './behaviour.ts'

type Rows<Row> = readonly (readonly [name: string, row: Row])[]

/** In pairs, so that a name which is there twice can be told. */
export function listFailures(behaviours: Iterable<Behaviour>): Rows<FailureEntry> {
  return listRows<FailureEntry>(failureTable, behaviours, ({ failures }) => failures)
}

export function listEvents(behaviours: Iterable<Behaviour>): Rows<EventEntry> {
  return listRows<EventEntry>(eventTable, behaviours, ({ events }) => events)
}

type Table<Row> = Readonly<Record<string, Row>>

function listRows<Row>(
  common: Table<Row>,
  behaviours: Iterable<Behaviour>,
  own: (behaviour: Behaviour) => Table<Row> | undefined,
): Rows<Row> {
  return [common, ...[...behaviours].map((behaviour) => own(behaviour) ?? {})].flatMap((rows) => Object.entries(rows))
}
