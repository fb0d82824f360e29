import { Misfit, text, type Kind } from '../../model/kinds/index.ts'

/** A field that is known, so that whoever gives it is told why it is not taken. */
export function refused(why: string): Kind {
  return {
    ...text(),
    parse() {
      throw new Misfit(why)
    },
  }
}
