/** Prints answers as JSON: long ones in pieces, each in a turn of the event loop of its own. */
import { inTurns } from '../../core/time/turns.ts'
import type { Json } from '../../model/value.ts'
import type { System } from '../../ports/system.ts'

/** Text of about so many characters is one piece. */
const PIECE_CHARACTERS = 64 * 1024

/** The bytes of an answer in pieces, ended by a line feed. Joined, they are what `JSON.stringify` gives. */
export async function printJson(system: System, body: Readonly<Record<string, Json>>): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = []
  let text = '{'
  const cut = (charactersMin: number) => {
    if (text.length < charactersMin) return
    pieces.push(Buffer.from(text))
    text = ''
  }
  for (const [at, [name, value]] of Object.entries(body).entries()) {
    text += `${at === 0 ? '' : ','}${JSON.stringify(name)}:`
    if (Array.isArray(value)) {
      let before = '['
      for await (const some of inTurns(system, value as readonly Json[])) {
        for (const one of some) {
          text += before + JSON.stringify(one)
          before = ','
        }
        cut(PIECE_CHARACTERS)
      }
      text += before === '[' ? '[]' : ']'
    } else text += JSON.stringify(value)
  }
  text += '}\n'
  cut(0)
  return pieces
}
