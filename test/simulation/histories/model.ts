/**
 * What one key of a bucket does, as simply as it can be said: a list of rows, newest first. An operation with what it was
 * answered either fits a state, and leads to the next one, or does not.
 */
export type Versioning = 'off' | 'enabled' | 'suspended'

export interface Row {
  readonly version: string
  /** '' of a delete marker. */
  readonly etag: string
  readonly lock: 'governance' | 'compliance' | 'none'
  readonly isHeld: boolean
  readonly tag: string
}

export type State = readonly Row[]

export type Operation =
  | { readonly do: 'put'; readonly condition: Condition; readonly lock: Row['lock']; readonly tag: string }
  | { readonly do: 'get'; readonly version?: string }
  | { readonly do: 'delete'; readonly condition: Condition }
  | { readonly do: 'delete-version'; readonly version: string; readonly isBypassing: boolean }
  | { readonly do: 'hold'; readonly version: string; readonly isHeld: boolean }
  | { readonly do: 'tag'; readonly tag: string }
  | { readonly do: 'read-tag' }
  | { readonly do: 'versions' }

/** `none`, or what must be: nothing there (`*` of If-None-Match), or this ETag. */
export type Condition =
  | { readonly if: 'none' }
  | { readonly if: 'new' }
  | { readonly if: 'match'; readonly etag: string }

export interface Answer {
  readonly status: number
  readonly version?: string
  readonly etag?: string
  readonly tag?: string
  readonly isMarker?: boolean
  /** Of `versions`: version and ETag of each row, newest first. */
  readonly rows?: readonly (readonly [version: string, etag: string])[]
}

/** The state after the operation was answered so, or nothing when it cannot have been. */
export function step(versioning: Versioning, state: State, operation: Operation, answer: Answer): State | undefined {
  const [newest] = state
  const current = newest === undefined || newest.etag === '' ? undefined : newest
  switch (operation.do) {
    case 'put': {
      if (answer.status !== 200) return answer.status === refusal(operation.condition, current) ? state : undefined
      if (refusal(operation.condition, current) !== undefined) return undefined
      const { etag = '', version = 'null' } = answer
      const row: Row = { version, etag, lock: operation.lock, isHeld: false, tag: operation.tag }
      return added(versioning, state, row)
    }
    case 'get': {
      const row = operation.version === undefined ? current : state.find(({ version }) => version === operation.version)
      if (row === undefined) return answer.status === 404 ? state : undefined
      if (row.etag === '') return answer.status === 405 ? state : undefined
      return answer.status === 200 && answer.etag === row.etag ? state : undefined
    }
    case 'delete': {
      const refused = refusal(operation.condition, current)
      // Whether there was nothing or a marker (412) is looked at after the refusal, so both may be answered.
      const isRefused = answer.status === refused || (refused === 404 && answer.status === 412)
      if (answer.status !== 204) return isRefused ? state : undefined
      if (refused !== undefined) return undefined
      if (versioning === 'off') return []
      const marker: Row = { version: answer.version ?? 'null', etag: '', lock: 'none', isHeld: false, tag: '' }
      return answer.isMarker === true ? added(versioning, state, marker) : undefined
    }
    case 'delete-version': {
      const row = state.find(({ version }) => version === operation.version)
      if (row === undefined) return answer.status === 204 ? state : undefined
      const isKept = row.isHeld || row.lock === 'compliance' || (row.lock === 'governance' && !operation.isBypassing)
      if (isKept) return answer.status === 403 ? state : undefined
      return answer.status === 204 ? state.filter((one) => one !== row) : undefined
    }
    case 'hold': {
      const row = state.find(({ version }) => version === operation.version)
      if (row === undefined) return answer.status === 404 ? state : undefined
      if (row.etag === '') return answer.status === 405 ? state : undefined
      return answer.status === 200 ? changed(state, row, { isHeld: operation.isHeld }) : undefined
    }
    case 'tag': {
      if (current === undefined) return answer.status === 404 ? state : undefined
      return answer.status === 200 ? changed(state, current, { tag: operation.tag }) : undefined
    }
    case 'read-tag': {
      if (current === undefined) return answer.status === 404 ? state : undefined
      return answer.status === 200 && answer.tag === current.tag ? state : undefined
    }
    case 'versions': {
      const seen = JSON.stringify(answer.rows)
      return seen === JSON.stringify(state.map(({ version, etag }) => [version, etag])) ? state : undefined
    }
  }
}

/** The status that a condition that does not hold is answered with. */
function refusal(condition: Condition, current: Row | undefined): number | undefined {
  if (condition.if === 'new') return current === undefined ? undefined : 412
  if (condition.if === 'match') {
    if (current === undefined) return 404
    return current.etag === condition.etag ? undefined : 412
  }
  return undefined
}

function added(versioning: Versioning, state: State, row: Row): State {
  if (versioning === 'enabled') return [row, ...state]
  return [row, ...state.filter(({ version }) => version !== 'null')]
}

function changed(state: State, row: Row, change: Partial<Row>): State {
  return state.map((one) => (one === row ? { ...one, ...change } : one))
}
