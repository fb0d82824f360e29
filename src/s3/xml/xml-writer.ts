import { s3Namespace, xmlElement } from './xml.ts'
import type { XmlContent } from './xml.ts'

/**
 * Encodes a long text while it is written. One text of a page of a thousand keys is a tree of some ten thousand pieces to
 * V8, and to put that in order and encode it at its end takes twice as long as all of this.
 */
export class XmlWriter {
  #bytes: Buffer
  #length = 0
  #text = ''

  /** `expectedBytes` saves copies where it is not too little. */
  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(expectedBytes, bytesAtOnceMax))
  }

  /** Adds whole characters that are XML already. */
  add(text: string): void {
    this.#text += text
    if (this.#text.length >= charactersAtOnce) this.#encode()
  }

  /** All that was added. Nothing is to be added after it. */
  end(): Buffer {
    this.#encode()
    return this.#bytes.subarray(0, this.#length)
  }

  #encode(): void {
    const neededBytes = this.#length + this.#text.length * bytesOfCharacterMax
    if (neededBytes > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(neededBytes, this.#bytes.length * 2))
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    this.#length += this.#bytes.write(this.#text, this.#length)
    this.#text = ''
  }
}

const charactersAtOnce = 2048
/** Of UTF-8, for one unit of UTF-16. */
const bytesOfCharacterMax = 3
const bytesAtOnceMax = charactersAtOnce * bytesOfCharacterMax

/** Writes elements by the thousand, names and all, in the place of the one they are given for. */
export type XmlElements = (to: XmlWriter) => void

/** As `xmlDocument`, for one that may be long. */
export function longXmlDocument(
  root: string,
  content: { readonly [name: string]: XmlContent | XmlElements },
  expectedBytes: number,
): Buffer {
  const writer = new XmlWriter(expectedBytes)
  writer.add(`<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="${s3Namespace}">`)
  for (const [name, value] of Object.entries(content)) {
    if (typeof value === 'function') value(writer)
    else writer.add(xmlElement(name, value))
  }
  writer.add(`</${root}>`)
  return writer.end()
}
