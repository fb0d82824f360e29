/** As much of XML as answers need to be looked into. Whether they are well formed, the SDK tells in sdk.test.ts. */
export class Xml {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** The texts of all elements of this name, outermost first. */
  elements(name: string): string[] {
    return this.blocks(name).map(({ text }) => decoded(text))
  }

  /** The text of the first element of this name, or nothing where there is none. */
  element(name: string): string | undefined {
    return this.elements(name)[0]
  }

  /** All elements of this name, to look into. */
  blocks(name: string): Xml[] {
    const pattern = new RegExp(`<${name}(?:\\s[^>]*)?(?:/>|>([\\s\\S]*?)</${name}>)`, 'g')
    return [...this.text.matchAll(pattern)].map(([, inside = '']) => new Xml(inside))
  }

  /** The first element of this name, to look into; an empty one where there is none. */
  block(name: string): Xml {
    return this.blocks(name)[0] ?? new Xml('')
  }
}

/** Text as it stands in an element. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

function decoded(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (whole, hex?: string, digits?: string, name = '') => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
    if (digits !== undefined) return String.fromCodePoint(Number(digits))
    return named[name as string] ?? whole
  })
}
