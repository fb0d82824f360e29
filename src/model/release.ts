/** A release of the interface: `9.8`, `9.16.1`. `since` on resources, fields and values is the whole version mechanism. */
export interface Release {
  readonly generation: number
  readonly major: number
  readonly minor: number
}

export const releases = ['9.8', '9.9.1', '9.10.1', '9.11.1', '9.12.1', '9.13.1', '9.14.1', '9.15.1', '9.16.1'] as const

/** The release that a text such as `9.8` or `9.16.1` names; nothing when no such release can be served. */
export function parseRelease(text: string): Release | undefined {
  const known = releases.find((release) => release === text || release === `${text}.1`)
  return known === undefined ? undefined : release(known)
}

export function release(text: string): Release {
  const known = parsed.get(text)
  if (known !== undefined) return known
  const [generation = 0, major = 0, minor = 0] = text.split('.').map(Number)
  const made = { generation, major, minor }
  if (parsed.size < PARSED_MAX) parsed.set(text, made)
  return made
}

/** Declarations say a dozen of releases, and requests ask about each of their fields. */
const parsed = new Map<string, Release>()
const PARSED_MAX = 100

/** Whether something introduced in `since` is part of the served release. `9.8` means 9.8 with any minor. */
export function isServed(since: string | undefined, served: Release): boolean {
  if (since === undefined) return true
  const from = release(since)
  return (
    served.generation > from.generation ||
    (served.generation === from.generation &&
      (served.major > from.major || (served.major === from.major && served.minor >= from.minor)))
  )
}

export function printRelease(served: Release): string {
  return `${served.generation}.${served.major}${served.minor === 0 ? '' : `.${served.minor}`}`
}
