/** The types of records that only tests have, beside those of the product. */
import type { Row } from '../../src/model/value.ts'

declare module '../../src/model/rows.ts' {
  interface RowTypes {
    readonly 'test/machines': Row
    readonly 'test/things': Row
  }
}
