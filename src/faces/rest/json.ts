/** Reads a JSON body within bounds. `JSON.parse` alone would take any depth and keep the last of two equal names. */
import { failure } from '../../model/failure.ts'
import { repeatedName } from '../../model/repeated-name.ts'

export const BODY_BYTES_MAX = 1024 * 1024
export const BODY_DEPTH_MAX = 32

export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw failure('bodyTooDeep', { max: BODY_DEPTH_MAX })
  try {
    const parsed: unknown = JSON.parse(text, (key, value: unknown) => {
      if (key === '__proto__') throw failure('fieldUnknown', { field: key })
      return value
    })
    const repeated = repeatedName(text)
    if (repeated === undefined) return parsed
    const name = repeated.slice(0, 80)
    throw failure('propertyRepeated', { name })
  } catch (cause) {
    if (cause instanceof SyntaxError) throw failure('bodyNotJson', { problem: sentence(cause.message) })
    throw cause
  }
}

/** Walks the text once, outside strings, before anything is built from it. */
function isTooDeep(text: string): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isInString) {
      if (code === BACKSLASH) at++
      else if (code === QUOTE) isInString = false
    } else if (code === QUOTE) isInString = true
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > BODY_DEPTH_MAX) return true
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
  }
  return false
}

const [BACKSLASH, QUOTE, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [92, 34, 123, 125, 91, 93]

/** The engine's message quotes the text; what it quotes is cut. */
function sentence(message: string): string {
  const short = message.replace(/, "[\s\S]*$/, '').slice(0, 160)
  return short.endsWith('.') ? short : `${short}.`
}
