/** What documents hold that can be run, and what it prints. */
export interface Step {
  readonly command: string
  readonly output: string
}

/** The `console` blocks of a document: lines after `$ ` are commands, the others what they print. */
export function consoles(text: string): Step[][] {
  return codeBlocks(text, 'console').map((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command = '', ...output] = part.split('\n')
        return { command, output: output.join('\n') }
      }),
  )
}

/** The text of its code blocks in a language. */
export function codeBlocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, code = '']) => code)
}

/** Lines without what differs from run to run. */
export function shape(output: string): string[] {
  return output
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<uuid>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, '<time>')
    .replaceAll(/\d+\.\d s\)/g, '<seconds>)')
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
}
