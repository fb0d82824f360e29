import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyText } from '../../../test/support/any-text.ts'
import { s3Error } from '../errors.ts'
import {
  child,
  children,
  escapeText,
  findBoolean,
  findText,
  readXml,
  wellFormedText,
  xmlBytesMax,
  xmlDepthMax,
  xmlDocument,
  xmlErrorDocument,
} from './xml.ts'
import type { XmlNode } from './xml.ts'

const read = (text: string): ReturnType<typeof readXml> => readXml(Buffer.from(text))

test('a document has the namespace, elements in order, lists repeated and absent ones left out', () => {
  assert.equal(
    xmlDocument('ListBucketResult', {
      Name: 'b',
      Marker: undefined,
      IsTruncated: false,
      Contents: [{ Size: 1 }, { Size: 2 }],
    }),
    '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
      '<Name>b</Name><IsTruncated>false</IsTruncated><Contents><Size>1</Size></Contents><Contents><Size>2</Size></Contents>' +
      '</ListBucketResult>',
  )
})

test('markup, line ends and control characters in text are escaped', () => {
  assert.match(xmlDocument('R', { Key: '<a>&"\r\n\t\u0001' }), /<Key>&lt;a&gt;&amp;&quot;&#xd;&#xa;&#x9;&#x1;<\/Key>/)
})

test('attributes are written into the tag', () => {
  const grantee = { '@xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance', '@xsi:type': 'CanonicalUser', ID: 'x' }
  assert.match(
    xmlDocument('R', { Grantee: grantee }),
    /<Grantee xmlns:xsi="http:\/\/www.w3.org\/2001\/XMLSchema-instance" xsi:type="CanonicalUser"><ID>x<\/ID><\/Grantee>/,
  )
})

test('an error document has its code, message and fields, and no namespace', () => {
  const error = s3Error('AuthorizationHeaderMalformed', { fields: { Region: 'eu-west-1' } })
  assert.equal(
    xmlErrorDocument(error, { RequestId: '1' }),
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AuthorizationHeaderMalformed</Code>' +
      '<Message>The authorization header is malformed.</Message><Region>eu-west-1</Region><RequestId>1</RequestId></Error>',
  )
})

test('an error document is taken by strict readers, whatever it echoes', () => {
  const error = s3Error('NoSuchKey', { fields: { ArgumentValue: '\u0001', StringToSign: 'a\nb%' } })
  const text = xmlErrorDocument(error, { Key: 'a%\u0001\ufffe/<ä' })
  assert.ok(text.includes('<ArgumentValue>%01</ArgumentValue><StringToSign>a&#xa;b%</StringToSign>'), text)
  assert.ok(text.includes('<Key>a%25%01%EF%BF%BE/&lt;ä</Key>'), text)
})

test('well-formed text is what it was, or says it in characters of XML and can be decoded', () => {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/
  const letter = fc.oneof(anyText({ maxLength: 3 }), fc.constantFrom('%', '%01', '\u0001', '\ufffe'))
  fc.assert(
    fc.property(fc.array(letter, { maxLength: 10 }), (letters) => {
      const text = letters.join('')
      const written = wellFormedText(text)
      assert.doesNotMatch(written, unwritable)
      if (unwritable.test(text)) assert.equal(decodeURIComponent(written), text)
      else assert.equal(written, text)
    }),
  )
  assert.equal(wellFormedText('\ud800'), '\ufffd')
})

test('any tree survives being written and read', () => {
  const tree = fc.letrec<{ node: Written }>((tie) => ({
    node: fc.record(
      {
        name: fc.constantFrom('Key', 'a', 'B_c', 'x.y-z'),
        inside: fc.oneof(
          { depthSize: 'small' },
          anyText({ maxLength: 10 }).map((text) => text.replaceAll('\u0000', '')),
          fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
        ),
      },
      { noNullPrototype: true },
    ),
  })).node
  const written = ({ name, inside }: Written): string =>
    `<${name}>${typeof inside === 'string' ? escapeText(inside) : inside.map(written).join('')}</${name}>`
  const plain = ({ name, text, children: below }: XmlNode): Written => ({
    name,
    inside: below.length === 0 ? text : below.map(plain),
  })
  fc.assert(
    fc.property(tree, (root) => {
      assert.deepEqual(plain(read(written(root))), root)
    }),
  )
})

test('random bytes are read, or refused as malformed', () => {
  const token = fc.constantFrom(
    '<a>',
    '</a>',
    '<a/>',
    '<',
    '>',
    '&',
    ';',
    '&#x1;',
    '&amp;',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<?xml ?>',
    '"',
    '=',
    ' b="c"',
  )
  const piece = fc.oneof(token, fc.string({ maxLength: 4 }), fc.uint8Array({ maxLength: 4 }))
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const body = Buffer.concat(pieces.map((one) => Buffer.from(one as string)))
      try {
        readXml(body)
      } catch (failure) {
        assert.equal((failure as { code: string }).code, 'MalformedXML')
      }
    }),
    { numRuns: 2000 },
  )
})

interface Written {
  readonly name: string
  readonly inside: string | readonly Written[]
}

test('any text survives being written and read', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 40 }), (text) => {
      fc.pre(!text.includes('\u0000'))
      assert.equal(findText(read(xmlDocument('R', { Key: text })), 'Key'), text)
    }),
  )
})

test('blanks around a key are part of the key', () => {
  assert.equal(findText(read('<Delete><Key>  a\tb </Key></Delete>'), 'Key'), '  a\tb ')
})

test('numbers and truth values stay text until asked for', () => {
  const tree = read('<R><Key>007</Key><Size> 12 </Size><Quiet>TRUE</Quiet></R>')
  assert.equal(findText(tree, 'Key'), '007')
  assert.equal(findText(tree, 'Size'), ' 12 ')
  assert.equal(findBoolean(tree, 'Quiet'), true)
})

test('prefixes, declarations, comments, CDATA and references are understood', () => {
  const tree = read(
    '\ufeff<?xml version="1.0" encoding="UTF-8"?>\n<!-- x --><s3:Delete xmlns:s3="urn:x">\n' +
      '<s3:Object a="1" b = \'&lt;\'><s3:Key><![CDATA[<a>&]]>&amp;&#x41;&#66;</s3:Key></s3:Object><Empty/></s3:Delete>\n<!-- y -->\n',
  )
  assert.equal(tree.name, 'Delete')
  const object = child(tree, 'Object')
  assert.equal(child(object, 'Key').text, '<a>&&AB')
  assert.equal(read('<a>&#x0000000041;&#00000000066;</a>').text, 'AB')
  assert.equal(object.attributes.get('b'), '<')
  assert.equal(child(tree, 'Empty').text, '')
})

test('a document of another root is refused by name', () => {
  assert.throws(() => readXml(Buffer.from('<A/>'), 'Delete'), { code: 'MalformedXML', message: /must be a Delete/ })
})

test('what is not well-formed is MalformedXML', () => {
  const bad = [
    '', ' ', 'x', '<a>', '</a>', '<a></b>', '<a/><b/>', '<a/>x', '<a', '<a b>', '<a b=c/>', '<a b="1" b="2"/>', '<a b="<"/>',
    '<a>&</a>', '<a>&foo;</a>', '<a>&#0;</a>', '<a>&#x0000000;</a>', '<a>&#;</a>', '<a>&#xd800;</a>', '<a>&#x110000;</a>', '<a>&amp</a>', '<a><![CDATA[x</a>',
    '<a><!-- </a>', '<a>\u0000</a>', '<1/>', '< a/>', '<a></a/>',
  ] // prettier-ignore
  for (const text of bad) assert.throws(() => read(text), { code: 'MalformedXML' }, text)
  assert.throws(() => readXml(Buffer.from('<a>\xff</a>', 'latin1')), { code: 'MalformedXML' })
})

test('document types, entities and processing instructions are refused', () => {
  const laughs = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>'
  for (const text of [laughs, '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', '<a><?php x ?></a>', '<a>&nbsp;</a>']) {
    assert.throws(() => read(text), { code: 'MalformedXML' }, text)
  }
})

test('size and depth are bounded', () => {
  assert.throws(() => readXml(Buffer.alloc(xmlBytesMax + 1, ' ')), { code: 'MaxMessageLengthExceeded' })
  assert.throws(() => read('<a>'.repeat(xmlDepthMax + 1) + '</a>'.repeat(xmlDepthMax + 1)), { code: 'MalformedXML' })
  assert.equal(read('<a>'.repeat(xmlDepthMax) + '</a>'.repeat(xmlDepthMax)).name, 'a')
})

test('ten thousand parts are read in one go, in order', () => {
  const parts = Array.from(
    { length: 10_000 },
    (_, n) => `<Part><PartNumber>${n + 1}</PartNumber><ETag>"x"</ETag></Part>`,
  )
  const tree = read(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
  const numbers = children(tree, 'Part').map((part) => Number(findText(part, 'PartNumber')))
  assert.equal(numbers.length, 10_000)
  assert.equal(numbers[9_999], 10_000)
})

test('hostile documents are refused quickly', () => {
  for (const text of [
    '<a' + ' '.repeat(1_000_000),
    '<a b="' + '"'.repeat(500_000),
    `<a>${'&'.repeat(1_000_000)}</a>`,
  ]) {
    assert.throws(() => read(text), { code: 'MalformedXML' })
  }
})
