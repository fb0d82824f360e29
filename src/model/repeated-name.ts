/**
 * A name that an object of valid JSON has twice, if one has, however it is escaped. `JSON.parse` keeps the last of the two,
 * and whoever reads the text may see the first.
 */
export function repeatedName(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === OPEN_BRACE) open.push(new Set())
    else if (code === OPEN_BRACKET) open.push(undefined)
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) open.pop()
    else if (code === QUOTE) {
      const from = at
      for (at++; text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++
      const names = open.at(-1)
      if (names === undefined || !isBeforeColon(text, at + 1)) continue
      const name = JSON.parse(text.slice(from, at + 1)) as string
      if (names.has(name)) return name
      names.add(name)
    }
  }
  return undefined
}

function isBeforeColon(text: string, from: number): boolean {
  let at = from
  while (BLANKS.has(text[at] ?? '')) at++
  return text[at] === ':'
}

const BLANKS: ReadonlySet<string> = new Set([' ', '\t', '\n', '\r'])

const [BACKSLASH, QUOTE, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [92, 34, 123, 125, 91, 93]
