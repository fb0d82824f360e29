/** A row of the table of events: what the cluster logs, and what faces and outlets make of it. */
export interface EventEntry {
  readonly severity: EventSeverity
  /** One plain sentence: what happened. */
  readonly message: string
  /** What an administrator can do about it: a sentence that stands alone. */
  readonly action: string
  /** What the event carries, by name. */
  readonly parameters: Readonly<Record<string, ParameterKind | `${ParameterKind}?`>>
  /** The last number of its SNMP trap. Receivers keep it, so it never changes and is never given again. */
  readonly trap: number
  /** The event that says that what this one told of is over. */
  readonly clearedBy?: string
}

export type EventSeverity = 'emergency' | 'alert' | 'error' | 'notice' | 'informational' | 'debug'

/** What a parameter is: the unit of a number goes with it. A question mark says that it may be absent. */
export type ParameterKind = 'text' | 'count' | 'bytes' | 'flag' | 'list'
