/** All events that the cluster can log, by name. Names follow the dotted style of the field. */
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

/** What must and may be said with an event. Values are those of rows; the table says what they are. */
export type EventParameters<Name extends EventName> = Name extends EventName
  ? {
      readonly [
        Parameter in keyof EventTable[Name]['parameters'] as IsOptional<Name, Parameter> extends true
          ? never
          : Parameter
      ]: Value
    } & {
      readonly [
        Parameter in keyof EventTable[Name]['parameters'] as IsOptional<Name, Parameter> extends true
          ? Parameter
          : never
      ]?: Value
    }
  : never

type IsOptional<
  Name extends EventName,
  Parameter extends keyof EventTable[Name]['parameters'],
> = EventTable[Name]['parameters'][Parameter] extends `${string}?` ? true : false
