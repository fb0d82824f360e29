import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { xmlDocument } from './xml.ts'
import { longXmlDocument, XmlWriter } from './xml-writer.ts'

test('a long document is the one that would be written as a text', () => {
  const content = { Name: 'b<', Nothing: undefined, Keys: ['a', 'ä', '€', '😀'], IsTruncated: false }
  assert.equal(longXmlDocument('A', content, 0).toString(), xmlDocument('A', content))
})

test('elements that are written by the thousand stand in the place of theirs', () => {
  const document = longXmlDocument('A', { B: 1, C: (to) => to.add('<C>2</C><C>3</C>'), D: 4 }, 0).toString()
  assert.ok(document.endsWith('<B>1</B><C>2</C><C>3</C><D>4</D></A>'), document)
})

test('whatever is added comes out, however much was expected', () => {
  const texts = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constant('x€'.repeat(5000))))
  fc.assert(
    fc.property(texts, fc.nat(100_000), (added, expectedBytes) => {
      const writer = new XmlWriter(expectedBytes)
      for (const text of added) writer.add(text)
      assert.equal(writer.end().toString(), added.join(''))
    }),
  )
})
