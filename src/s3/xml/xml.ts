import { isUtf8 } from 'node:buffer'
import { s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { percentEncode } from '../request/percent.ts'
import type { Turn } from '../exchange/turns.ts'

export const s3Namespace = 'http://s3.amazonaws.com/doc/2006-03-01/'

/** Bounds of a request document. The largest lawful one is a CompleteMultipartUpload of 10,000 parts with checksums. */
export const xmlBytesMax = 4 * 1024 * 1024
export const xmlDepthMax = 20
export const xmlElementsMax = 100_000

/**
 * Content of an element to write: text, a number, a truth value, child elements, or a list, which repeats the element.
 * `undefined` leaves the element out. The order of the keys is the order in the document.
 */
export type XmlContent =
  | string
  | number
  | boolean
  | undefined
  | readonly XmlContent[]
  | { readonly [name: string]: XmlContent }

/** A whole document: `xmlDocument('ListBucketResult', { Name: 'b', Contents: [{ Key: 'a' }, { Key: 'b' }] })`. */
export function xmlDocument(root: string, content: XmlContent): string {
  const inner = contentText(content)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="${s3Namespace}">${inner}</${root}>`
}

/** Characters of one element of an error document. Whole keys of objects fit in. */
export const echoCharactersMax = 2048
/** Of what is there to find out why a signature is wrong; canonical requests are rarely longer. */
const longEchoCharactersMax = 8192
const longEchoes: ReadonlySet<string> = new Set([
  'CanonicalRequest',
  'CanonicalRequestBytes',
  'StringToSign',
  'StringToSignBytes',
])

/** The beginning of a text that came from a client, and no half of a character. */
export function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  return `${text.slice(0, charactersMax).replace(/[\ud800-\udbff]$/, '')}…`
}

/** Error documents stay small and well-formed, whatever the request was. */
function echoed(fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      wellFormedText(cut(value, longEchoes.has(name) ? longEchoCharactersMax : echoCharactersMax)),
    ]),
  )
}

/** The error document. It has no namespace, as Amazon's has none; some clients look for `Error` without one. */
export function xmlErrorDocument(error: S3Error, about: Readonly<Record<string, string>>): string {
  const content = contentText(echoed({ Code: error.code, Message: error.message, ...error.fields, ...about }))
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${content}</Error>`
}

/** One element, for replies that are written piece by piece. */
export function xmlElement(name: string, content: XmlContent): string {
  if (content === undefined) return ''
  if (isList(content)) return content.map((one) => xmlElement(name, one)).join('')
  const attributes = isElements(content) ? attributesText(content) : ''
  return `<${name}${attributes}>${contentText(content)}</${name}>`
}

function contentText(content: XmlContent): string {
  if (content === undefined) return ''
  if (typeof content === 'string') return escapeText(content)
  if (typeof content === 'number' || typeof content === 'boolean') return String(content)
  if (isList(content)) return content.map(contentText).join('')
  let text = ''
  for (const [name, value] of Object.entries(content)) if (!name.startsWith('@')) text += xmlElement(name, value)
  return text
}

/** Keys that begin with `@` are attributes: `{ '@xsi:type': 'CanonicalUser', ID: '…' }`. */
function attributesText(content: { readonly [name: string]: XmlContent }): string {
  let text = ''
  for (const [name, value] of Object.entries(content)) {
    if (name.startsWith('@') && typeof value === 'string') text += ` ${name.slice(1)}="${escapeText(value)}"`
  }
  return text
}

function isList(content: XmlContent): content is readonly XmlContent[] {
  return Array.isArray(content)
}

function isElements(content: XmlContent): content is { readonly [name: string]: XmlContent } {
  return typeof content === 'object' && !Array.isArray(content)
}

/**
 * Tab, line feed and carriage return are written as references so that readers do not normalise them away. Other control
 * characters, U+FFFE and U+FFFF cannot be in an XML 1.0 document in any form; Amazon writes them as references all the
 * same, and lenient readers, such as that of the SDK for JavaScript, read them back, so a key with U+0001 survives a
 * listing. Clients with strict readers (expat, libxml2, Go) ask for `encoding-type=url`. Where there is nothing to ask
 * for it with, use `wellFormedText`.
 */
export function escapeText(text: string): string {
  return special.test(text)
    ? text.replaceAll(specials, (one) => escapes[one] ?? `&#x${one.charCodeAt(0).toString(16)};`)
    : text
}

/**
 * Text that any reader of XML takes: what cannot be in a document is percent-encoded, and with it the percent sign, so
 * that it can be decoded. Other text stays as it is. It is for documents of which a client cannot ask for
 * `encoding-type=url`: a strict reader would throw all of the answer away, such as the id of an upload or the error code.
 */
export function wellFormedText(text: string): string {
  return unwritable.test(text)
    ? text.toWellFormed().replaceAll(unwritables, (one) => percentEncode(Buffer.from(one), { keepSlash: true }))
    : text
}

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const unwritables = /[%\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/gu

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const special = /[&<>"\u0000-\u001f\u007f\ufffe\uffff]/
const specials = new RegExp(special, 'g')
const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** An element that was read. Text is exact: blanks around it, line feeds and all. */
export interface XmlNode {
  readonly name: string
  /** All text directly inside, joined. */
  readonly text: string
  readonly children: readonly XmlNode[]
  /** Names without their prefix: `xsi:type` is `type`. */
  readonly attributes: ReadonlyMap<string, string>
}

/**
 * Reads a request document into a tree. Written by hand, because this is the whole of XML that S3 needs and every library
 * is more: no document types, so no entities but the five that are built in, and no processing instructions. Keys are
 * values here, so text is never trimmed or turned into numbers. Anything else is `MalformedXML`.
 */
export function readXml(body: Uint8Array, expectedRoot?: string): XmlNode {
  const steps = readerOf(body).document()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return checkedRoot(step.value, expectedRoot)
  }
}

/** The same for documents that may have very many elements: others get their turn between two lots of them. */
export async function readXmlInTurns(body: Uint8Array, expectedRoot: string, turn: Turn): Promise<XmlNode> {
  const steps = readerOf(body).document()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return checkedRoot(step.value, expectedRoot)
    await turn()
  }
}

function readerOf(body: Uint8Array): Reader {
  if (body.length > xmlBytesMax) throw s3Error('MaxMessageLengthExceeded')
  if (!isUtf8(body)) throw malformed('The document is not valid UTF-8.')
  return new Reader(Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8'))
}

function checkedRoot(root: XmlNode, expectedRoot: string | undefined): XmlNode {
  if (expectedRoot !== undefined && root.name !== expectedRoot) {
    throw malformed(`The document must be a ${expectedRoot}.`)
  }
  return root
}

/** The only child of this name. Nothing when there is none; two are malformed. */
export function findChild(node: XmlNode, name: string): XmlNode | undefined {
  const found = node.children.filter((child) => child.name === name)
  if (found.length > 1) throw malformed(`${node.name} has more than one ${name}.`)
  return found[0]
}

export function child(node: XmlNode, name: string): XmlNode {
  const found = findChild(node, name)
  if (found === undefined) throw malformed(`${node.name} needs a ${name}.`)
  return found
}

export function children(node: XmlNode, name: string): readonly XmlNode[] {
  return node.children.filter((one) => one.name === name)
}

export function findText(node: XmlNode, name: string): string | undefined {
  return findChild(node, name)?.text
}

export function findBoolean(node: XmlNode, name: string): boolean | undefined {
  const text = findText(node, name)?.trim().toLowerCase()
  if (text === undefined) return undefined
  if (text !== 'true' && text !== 'false') throw malformed(`${name} must be true or false.`)
  return text === 'true'
}

export function malformed(message: string): S3Error {
  return s3Error('MalformedXML', {
    message: `The XML you provided was not well-formed or did not validate. ${message}`,
  })
}

const elementsPerTurn = 1000

interface OpenNode {
  readonly name: string
  readonly qualifiedName: string
  readonly children: XmlNode[]
  readonly attributes: ReadonlyMap<string, string>
  text: string
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Pauses after so many elements as take about a millisecond. */
  *document(): Generator<void, XmlNode> {
    if (this.#text.startsWith('\ufeff')) this.#at = 1
    if (/^<\?xml\s/.test(this.#text.slice(this.#at, this.#at + 6))) this.#at = this.#after('?>')
    const open: OpenNode[] = []
    let elements = 0
    for (;;) {
      const next = this.#text.indexOf('<', this.#at)
      const here = open.at(-1)
      const text = this.#text.slice(this.#at, next < 0 ? undefined : next)
      if (here !== undefined) here.text += unescapeText(text)
      else if (/\S/.test(text)) throw malformed('There is text outside of the root element.')
      if (next < 0) throw malformed('The document ends too early.')
      this.#at = next

      if (this.#skipComment()) continue
      if (this.#text.startsWith('<![CDATA[', this.#at)) {
        if (here === undefined) throw malformed('There is text outside of the root element.')
        const start = this.#at + '<![CDATA['.length
        this.#at = this.#after(']]>')
        here.text += checkedCharacters(this.#text.slice(start, this.#at - ']]>'.length)).replaceAll(/\r\n?/g, '\n')
      } else if (this.#text.startsWith('</', this.#at)) {
        const closed = this.#close(open)
        const parent = open.at(-1)
        if (parent === undefined) {
          this.#end()
          return closed
        }
        parent.children.push(closed)
      } else {
        elements += 1
        if (elements > xmlElementsMax) throw malformed(`The document has more than ${xmlElementsMax} elements.`)
        if (elements % elementsPerTurn === 0) yield
        const { node, isEmpty } = this.#open()
        const parent = open.at(-1)
        if (isEmpty && parent !== undefined) parent.children.push(node)
        else if (isEmpty) {
          this.#end()
          return node
        } else {
          open.push(node)
          if (open.length > xmlDepthMax) throw malformed(`The document is nested more than ${xmlDepthMax} deep.`)
        }
      }
    }
  }

  #open(): { readonly node: OpenNode; readonly isEmpty: boolean } {
    nameAt.lastIndex = this.#at + 1
    const qualifiedName = nameAt.exec(this.#text)?.[0]
    if (qualifiedName === undefined) throw malformed('Only elements, text and comments may be in the document.')
    this.#at += 1 + qualifiedName.length
    let attributes = noAttributes
    for (;;) {
      attributeAt.lastIndex = this.#at
      const attribute = attributeAt.exec(this.#text)
      if (attribute === null) break
      const [whole, name = '', doubleQuoted, singleQuoted] = attribute
      if (attributes.has(localName(name)) && !name.startsWith('xmlns'))
        throw malformed(`Attribute ${name} is there twice.`)
      if (attributes === noAttributes) attributes = new Map()
      attributes.set(localName(name), unescapeText(doubleQuoted ?? singleQuoted ?? ''))
      this.#at += whole.length
    }
    tagEndAt.lastIndex = this.#at
    const end = tagEndAt.exec(this.#text)?.[0]
    if (end === undefined) throw malformed(`The tag of ${qualifiedName} is not well-formed.`)
    this.#at += end.length
    const node = { name: localName(qualifiedName), qualifiedName, children: [], attributes, text: '' }
    return { node, isEmpty: end.includes('/') }
  }

  #close(open: OpenNode[]): XmlNode {
    nameAt.lastIndex = this.#at + 2
    const name = nameAt.exec(this.#text)?.[0] ?? ''
    this.#at += 2 + name.length
    tagEndAt.lastIndex = this.#at
    const end = tagEndAt.exec(this.#text)?.[0]
    const node = open.pop()
    if (node === undefined || node.qualifiedName !== name || end === undefined || end.includes('/')) {
      throw malformed('An end tag does not match.')
    }
    this.#at += end.length
    return node
  }

  /** After the root only blanks and comments may follow. */
  #end(): void {
    for (;;) {
      while (isXmlBlank(this.#text.charCodeAt(this.#at))) this.#at += 1
      if (this.#at >= this.#text.length) return
      if (!this.#skipComment()) throw malformed('Something follows the root element.')
    }
  }

  #skipComment(): boolean {
    if (!this.#text.startsWith('<!--', this.#at)) return false
    this.#at += 4
    this.#at = this.#after('-->')
    return true
  }

  #after(end: string): number {
    const found = this.#text.indexOf(end, this.#at)
    if (found < 0) throw malformed(`"${end}" is missing.`)
    return found + end.length
  }
}

const noAttributes = new Map<string, string>()
const nameAt = /[A-Za-z_][\w.:-]*/y
const attributeAt = /[ \t\r\n]+([A-Za-z_][\w.:-]*)[ \t\r\n]*=[ \t\r\n]*(?:"([^"<]*)"|'([^'<]*)')/y
const tagEndAt = /[ \t\r\n]*\/?>/y

function localName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1)
}

function isXmlBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** Line ends become U+000A as XML wants, references become what they stand for. */
function unescapeText(raw: string): string {
  const text = checkedCharacters(raw.includes('\r') ? raw.replaceAll(/\r\n?/g, '\n') : raw)
  let ampersand = text.indexOf('&')
  if (ampersand < 0) return text
  let result = ''
  let at = 0
  while (ampersand >= 0) {
    referenceAt.lastIndex = ampersand
    const reference = referenceAt.exec(text)
    const meant = reference === null ? undefined : referenceMeaning(reference)
    if (reference === null || meant === undefined) {
      throw malformed(`"${text.slice(ampersand, ampersand + 12)}" is no reference.`)
    }
    result += text.slice(at, ampersand) + meant
    at = ampersand + reference[0].length
    ampersand = text.indexOf('&', at)
  }
  return result + text.slice(at)
}

// Zeros before the digits mean nothing, and there may be any number of them.
const referenceAt = /&(?:(amp|lt|gt|quot|apos)|#x0*([0-9a-fA-F]{1,6})|#0*([0-9]{1,7}));/y

function referenceMeaning([, name, hex, decimal]: RegExpExecArray): string | undefined {
  if (name !== undefined) return namedReferences[name]
  const code = hex === undefined ? Number.parseInt(decimal ?? '', 10) : Number.parseInt(hex, 16)
  // References to control characters are beyond XML 1.0 but how SDKs send keys that have them; NUL is nobody's key.
  const isCharacter = code >= 1 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  return isCharacter ? String.fromCodePoint(code) : undefined
}

const namedReferences: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function checkedCharacters(text: string): string {
  if (text.includes('\u0000')) throw malformed('A NUL character is not allowed.')
  return text
}
