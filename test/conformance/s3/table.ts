/**
 * Writes docs/s3-compatibility.md from the tests of this folder and the table of operations. By hand, after tests were
 * added or renamed: `node_modules/.bin/node test/conformance/s3/table.ts`.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findHandler } from '../../../src/s3/operations/index.ts'
import { operations, type Operation } from '../../../src/s3/request/router.ts'
import { behaviours } from './behaviours.ts'

const folder = dirname(fileURLToPath(import.meta.url))
const tableFile = fileURLToPath(new URL('../../../docs/s3-compatibility.md', import.meta.url))

/** A file of tests: what its first comment says it is about, and the names of its tests. */
export interface Suite {
  readonly file: string
  /** Names of operations, or a sentence for what belongs to many. */
  readonly about: readonly string[]
  readonly tests: readonly string[]
  /** Calls of `test`, of which each must have a name that can be read here. */
  readonly testCount: number
}

export function readSuites(): Suite[] {
  return globSync('*.test.ts', { cwd: folder })
    .toSorted()
    .flatMap((file) => {
      const text = readFileSync(`${folder}/${file}`, 'utf8')
      const head = /^\/\*\*[\s*]*Operations: ([\s\S]*?)\.?\s*\*\//.exec(text)?.[1]
      if (head === undefined) return []
      const about = head.split(',').map((one) => one.replaceAll(/[\s*]+/g, ' ').trim())
      const tests = [...text.matchAll(/^test\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gm)].map(([, , name = '']) => name)
      return [{ file, about, tests, testCount: text.match(/^\s*test\(/gm)?.length ?? 0 }]
    })
}

/** The short name that a test has in brackets. */
export function shortName(test: string): string | undefined {
  return /\[([a-z0-9-]+)\]$/.exec(test)?.[1]
}

export function compatibilityTable(): string {
  const suites = readSuites()
  const testsOf = (operation: string) =>
    suites.filter(({ about }) => about.includes(operation)).reduce((sum, { tests }) => sum + tests.length, 0)
  const refused = operations.filter(({ name }) => !isAnswered(name))
  return [
    '# S3 compatibility',
    '',
    'What Amazon S3 does, and what is done here. Every line is a test in `test/conformance/s3`, and this page is written from',
    'them by `test/conformance/s3/table.ts`. The tests run against any endpoint: the settings are in',
    '[target.ts](../test/conformance/s3/target.ts).',
    '',
    `- **${operations.length - refused.length} of ${operations.length} operations** of Amazon’s model and of browsers are answered; ` +
      'the others with 501, by their names.',
    `- **${suites.reduce((sum, { tests }) => sum + tests.length, 0)} behaviours** are tested, the ` +
      `**${behaviours.length}** that stores are compared by among them.`,
    '',
    '## Behaviours that stores are compared by',
    '',
    ...rows([['short name', 'what happens', 'tested in'], ...compared(suites)]),
    '',
    '## Operations',
    '',
    ...rows([
      ['operation', 'request', 'answered', 'behaviours'],
      ...operations.map((one) => operationRow(one, testsOf)),
    ]),
    '',
    '## All behaviours',
    '',
    ...suites.flatMap(suiteLines),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n')
}

function compared(suites: readonly Suite[]): string[][] {
  return behaviours.map((name) => {
    const found = suites.find(({ tests }) => tests.some((test) => shortName(test) === name))
    const test = found?.tests.find((one) => shortName(one) === name)
    return [`\`${name}\``, sentence(test ?? 'not tested'), found === undefined ? '' : link(found.file)]
  })
}

function operationRow(operation: Operation, testsOf: (operation: string) => number): string[] {
  const { name, method, level, header } = operation
  const query = Object.entries(operation.query).map(([key, value]) => (value === true ? key : `${key}=${value}`))
  const path = { service: '/', bucket: '/bucket', object: '/bucket/key' }[level]
  const request = `${method} ${path}${query.length === 0 ? '' : `?${query.join('&')}`}`
  return [
    name,
    `\`${request}\`${header === undefined ? '' : ` with \`${header}\``}`,
    isAnswered(name) ? 'yes' : '501',
    String(testsOf(name) || ''),
  ]
}

/** Preflights have no handler: they are answered before anything is known of the caller. */
export function isAnswered(name: string): boolean {
  return name.startsWith('Preflight') || findHandler(name) !== undefined
}

function suiteLines({ file, about, tests }: Suite): string[] {
  return [`### ${about.join(', ')}`, '', link(file), '', ...tests.map((test) => `- ${sentence(test)}`), '']
}

function sentence(test: string): string {
  return test
    .replace(/ \[[a-z0-9-]+\]$/, '')
    .replaceAll(/\\(.)/g, '$1')
    .replaceAll('|', '\\|')
    .replaceAll('*', '\\*')
}

function link(file: string): string {
  return `[${basename(file, '.test.ts')}](../test/conformance/s3/${file})`
}

function rows([head = [], ...body]: readonly (readonly string[])[]): string[] {
  return [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`)
}

export function writtenTable(): string {
  return readFileSync(tableFile, 'utf8')
}

export function writeTable(): void {
  writeFileSync(tableFile, compatibilityTable())
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeTable()
