import { dirname, extname, join } from 'node:path'

/** The file of another program beside this one: of the sources, or of what bin/bundle.mjs makes of them. */
export function programBeside(file: string, name: string): string {
  return join(dirname(file), `${name}${extname(file)}`)
}
