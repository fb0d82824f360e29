import type { TypeName } from '../../src/model/resource.ts'
import type { RecordType } from '../../src/model/rows.ts'

/** The type of a record that a test puts without all that its declaration promises: only a part matters, or it is an old one. */
export function partial(type: RecordType): TypeName {
  return type as string as TypeName
}
