/** Codes of failures as they are on the wire, by the names of the failures: tests name what they expect. */
import { codeOf, type FailureName } from '../../src/model/failure.ts'

export function wireCode(name: FailureName): string {
  return String(codeOf(name))
}
