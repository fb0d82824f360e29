/** What requests of a recording answer, and what they are to answer. */

export interface Outcome {
  readonly line: number
  /** Method and path, as recorded. */
  readonly request: string
  /** What was answered when it was recorded. */
  readonly statusThen: number
  readonly status: number
  /** The code of the error, of the answer or of the job that it started. */
  readonly code: string | undefined
  readonly message: string | undefined
}

/** A request that was refused when it was recorded, or is refused now. */
export interface Expectation {
  readonly lines: readonly number[]
  /** Method and path, as recorded, without the query. */
  readonly request: string
  /** `success`, or status and code: `409 1638555`. A code without status is that of a job that failed. */
  readonly answers: string
  readonly why: string
}

/** What the recording does not hold: method, address and body. */
export type Request = readonly [method: string, url: string, body?: unknown]

export interface Expected {
  /** What the page on compatibility calls the tool; without it, the tool has no section there of what was recorded. */
  readonly tool?: string
  readonly differences: readonly Expectation[]
  /** Paths of resources that do not exist here: 404 with code 3, by whatever method. */
  readonly absent?: { readonly paths: readonly string[]; readonly why: string }
  readonly before?: Readonly<Record<number, readonly Request[]>>
  /** The SVM of the header X-Dot-SVM-Name of a line; recordings hold no headers. */
  readonly svmOf?: (line: number) => string | undefined
}

/** What is not as expected, a sentence for each. */
export function complaints(outcomes: readonly Outcome[], expected: Expected): string[] {
  const byLine = new Map(outcomes.map((each) => [each.line, each]))
  const listed = new Map<number, Expectation>()
  const found: string[] = []
  for (const expectation of expected.differences) {
    for (const line of expectation.lines) {
      if (listed.has(line)) found.push(`Line ${line} is listed twice.`)
      listed.set(line, expectation)
      const outcome = byLine.get(line)
      if (outcome?.request !== expectation.request) {
        found.push(`Line ${line} is ${outcome?.request ?? 'missing'}, not ${expectation.request}.`)
      }
    }
  }
  const absent = new Set(expected.absent?.paths)
  const asked = new Set(outcomes.map(({ request }) => pathOf(request)))
  for (const path of absent) if (!asked.has(path)) found.push(`No line asks for ${path}, listed as absent.`)
  for (const outcome of outcomes) {
    const isAbsent = absent.has(pathOf(outcome.request))
    const wanted = listed.get(outcome.line)?.answers ?? (isAbsent ? '404 3' : 'success')
    const answers = answersOf(outcome)
    const text = `Line ${outcome.line}, ${outcome.request}, answers ${answers} (then: ${outcome.statusThen})`
    if (outcome.status >= 500) found.push(`${text}: no request may get that. ${outcome.message ?? ''}`)
    else if (answers !== wanted) found.push(`${text}, not ${wanted}. ${outcome.message ?? ''}`)
    else if (outcome.statusThen >= 400 && !isAbsent && !listed.has(outcome.line)) {
      found.push(`${text}: it was refused then, so say why it is not now.`)
    } else if (wanted === 'success' && listed.has(outcome.line) && outcome.statusThen < 400) {
      found.push(`${text}: there is nothing to list.`)
    }
  }
  return found
}

export function answersOf({ status, code }: Outcome): string {
  if (status >= 400) return `${status} ${code ?? ''}`.trimEnd()
  return code ?? 'success'
}

export function pathOf(request: string): string {
  return request.slice(request.indexOf(' ') + 1)
}
