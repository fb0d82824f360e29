import * as fc from 'fast-check'

/** Any character, by its code point. */
const character = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10_ffff }))
  .map((code) => String.fromCodePoint(code))

/**
 * Text of any characters at all. The same as `fc.string` with the unit `binary`, which first makes a table of a million
 * characters: a second and 100 MB in each process that tests.
 */
export function anyText(
  length: { readonly minLength?: number; readonly maxLength?: number } = {},
): fc.Arbitrary<string> {
  return fc.string({ unit: character, ...length })
}
