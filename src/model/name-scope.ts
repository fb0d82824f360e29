import type { SomeType } from './rows.ts'

/** The scope in which names of a type are unique. Values are `<what it is unique within>/<name>`, such as `<svm>/<name>`. */
export function nameScope(type: SomeType): string {
  return `${type}:name`
}
