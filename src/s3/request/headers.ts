/**
 * Request headers as they were sent: lower-case name → its values in order, one for each time the header came. Values
 * are `latin1` strings, one character per byte, as Node's parser gives them; signatures need exactly these bytes.
 */
export type RequestHeaders = ReadonlyMap<string, readonly string[]>

/** From Node's flat `rawHeaders`: name, value, name, value, … */
export function requestHeaders(rawHeaders: readonly string[]): RequestHeaders {
  const headers = new Map<string, string[]>()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase()
    const value = rawHeaders[at + 1] ?? ''
    const values = headers.get(name)
    if (values === undefined) headers.set(name, [value])
    else values.push(value)
  }
  return headers
}

/** From an object, for clients and tests. */
export function headersOf(pairs: Readonly<Record<string, string | readonly string[]>>): RequestHeaders {
  const flat: string[] = []
  for (const [name, value] of Object.entries(pairs)) {
    for (const one of typeof value === 'string' ? [value] : value) flat.push(name, one)
  }
  return requestHeaders(flat)
}

/** The value of a header, blanks around it removed; several are joined with a comma, as HTTP defines it. */
export function headerValue(headers: RequestHeaders, name: string): string | undefined {
  const values = headers.get(name)
  return values === undefined ? undefined : trimBlanks(values.join(','))
}

/** Removes blanks and tabs, and only these: `trim()` would also eat 0xA0, which is half of a UTF-8 letter here. */
export function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start += 1
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}
