/**
 * The guide to a new resource is followed to the letter: what it shows is put where it says, and nothing else is touched.
 * The tree that it is put into consists of links to this one, so that it shares the modules of this process. With
 * HOLDFAST_TEST_WHOLE it is also put into a copy, whose types are checked and whose tests of all resources are run.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Behaviour } from '../src/core/behaviour.ts'
import { openApi } from '../src/faces/openapi/document.ts'
import { codeOf } from '../src/model/failure.ts'
import { reasonUnlessWhole } from './clients/programs.ts'
import { asList, asText, type Body, recordsOf } from './support/body.ts'
import { startTestCluster, type TestCluster } from './support/cluster.ts'
import { codeBlocks } from './support/documents.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const guide = read('docs/guides/add-a-resource.md')

const INDEX = 'src/resources/index.ts'
const PATH = '/api/svm/maintenance-windows'
/** The golden files that tell of the new resource. */
const GOLDEN: readonly string[] = ['endpoints', 'actions', 'access', 'commands', 'events', 'failures', 'faces']
const WHOLE = reasonUnlessWhole('test/guide-to-resources.test.ts')

/** What the second half of the guide has one write: the resource, and two lines of the index. */
const [code = '', imported = '', listed = ''] = codeBlocks(guide.slice(guide.indexOf('## In an SVM')), 'ts')
const [, name = '', place = ''] = /^import { (\w+) } from '\.\/(.+)'\n$/.exec(imported) ?? []
const file = `src/resources/${place}`
const changed: Readonly<Record<string, string>> = {
  [file]: code,
  [INDEX]: read(INDEX)
    .replace(/^import .* from '\.\//m, `${imported}$&`)
    .replace('const all = [\n', `$&${listed}`),
}

describe('the guide to a new resource', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-guide-'))
  const linked = join(folder, 'linked')
  let test: TestCluster
  let behaviour: Behaviour
  const call = (method: string, target: string, body?: unknown) => test.call(method, target, body)
  const records = async (target: string) => recordsOf((await call('GET', target)).body)
  const done = async (method: string, target: string, body?: unknown): Promise<Body> => {
    const reply = await call(method, `${target}${target.includes('?') ? '&' : '?'}return_timeout=15`, body)
    assert.ok(reply.status === 200 || reply.status === 201, `${method} ${target}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  const window = { svm: { name: 'svm1' }, schedule: { name: 'daily' }, duration: 60 }
  /** A new window of this name, and its path. */
  const made = async (name: string, more: Readonly<Record<string, unknown>> = {}) => {
    await done('POST', PATH, { ...window, name, ...more })
    return `${PATH}/${await test.uuidOf(PATH, name)}`
  }

  before(async () => {
    link(root, linked, { ...changed, 'test/golden/texts.ts': read('test/golden/texts.ts') })
    const { behaviours } = (await load(INDEX)) as { behaviours: readonly Behaviour[] }
    const extra = behaviours.filter(({ resource }) => `/api${resource.path}` === PATH)
    assert.equal(extra.length, 1)
    behaviour = extra[0] as Behaviour
    test = await startTestCluster({ extra })
  })
  after(async () => {
    await test?.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const load = (path: string): Promise<unknown> => import(pathToFileURL(join(linked, path)).href)

  it('says where its file is, and shows the lines of the index', () => {
    assert.ok(guide.includes(`\`${basename(file)}\` in [${dirname(file)}](../../${dirname(file)})`))
    assert.match(code, new RegExp(`^export const ${name}: `, 'm'))
    assert.equal(listed, `  ${name},\n`)
    assert.ok(changed[INDEX]?.includes(imported) && changed[INDEX].includes(listed))
  })

  it('makes what can be created, read, filtered, changed and deleted', async () => {
    const path = await made('nightly')
    const { body } = await call('GET', path)
    assert.deepEqual(
      [body['name'], body['svm']?.['name'], body['schedule']?.['name'], body['duration']],
      ['nightly', 'svm1', 'daily', 60],
    )
    await done('PATCH', path, { duration: 90 })
    assert.equal((await records(`${PATH}?duration=90&svm.name=svm1`)).length, 1)
    const again = await call('POST', PATH, { ...window, name: 'nightly' })
    assert.equal(again.status, 409)
    const long = await call('POST', PATH, { ...window, name: 'long', duration: 1441 })
    assert.deepEqual(
      [long.body['error']?.['code'], long.body['error']?.['target']],
      [codeOf('fieldInvalid'), 'duration'],
    )
    await done('DELETE', path)
    assert.equal((await call('GET', path)).status, 404)
  })

  it('has an action that changes the record, and logs its event', async () => {
    const path = await made('extended')
    await done('PATCH', path, { extend_by: 30 })
    assert.equal((await call('GET', path)).body['duration'], 90)
    const [event, ...more] = await records(
      '/api/support/ems/events?message.name=svm.maintenance.extended&fields=message,log_message,parameters',
    )
    const given = Object.fromEntries(asList(event?.['parameters']).map((one) => [asText(one['name']), one['value']]))
    assert.deepEqual(given, { window: path.split('/').at(-1), minutes: '90' })
    assert.equal(event?.['message']?.['severity'], 'notice')
    assert.equal(event['log_message'], 'svm.maintenance.extended: A maintenance window was extended.')
    assert.deepEqual(more, [])
    const [message] = await records('/api/support/ems/messages?name=svm.maintenance.extended&fields=*')
    assert.equal(message?.['description'], 'A maintenance window was extended.')
  })

  it('has an action that fails with the code of its failure, and changes nothing then', async () => {
    const path = await made('long')
    const { status, body } = await call('PATCH', path, { extend_by: 1440 })
    const [, declared] = /fails with the code (\d+)/.exec(guide) ?? []
    assert.deepEqual(
      [status, body['error']],
      [
        422,
        {
          message: 'The window "long" would be open for 1500 minutes, which is more than a day.',
          code: Number(declared),
          target: 'extend_by',
        },
      ],
    )
    assert.equal((await call('GET', path)).body['duration'], 60)
    const both = await call('PATCH', path, { extend_by: 30, duration: 10 })
    assert.deepEqual([both.status, both.body['error']?.['code']], [422, codeOf('actionAlone')])
  })

  it('is in the OpenAPI document, with its action', () => {
    const { paths, components } = openApi(test.cluster) as unknown as Record<'paths' | 'components', Body>
    const shown = paths[PATH.slice('/api'.length)]
    assert.deepEqual(Object.keys(shown ?? {}), ['parameters', 'get', 'post', 'patch', 'delete'])
    assert.ok(JSON.stringify(components).includes('How many minutes to extend the window by.'))
  })

  it('has a command', async () => {
    const [, command = ''] = /The command is `([^`]+)`/.exec(guide) ?? []
    const cli = `/api/private/cli/${command.replaceAll(' ', '/')}`
    await done('POST', cli, { vserver: 'svm1', maintenance_window: 'by-command', schedule: 'daily', duration: 5 })
    const [shown] = await records(`${cli}?maintenance_window=by-command&fields=duration`)
    assert.deepEqual(shown, { vserver: 'svm1', maintenance_window: 'by-command', duration: 5 })
    assert.equal((await records(`${PATH}?name=by-command`)).length, 1)
    await done('DELETE', `${cli}?maintenance_window=by-command`, {})
    assert.equal((await records(`${PATH}?name=by-command`)).length, 0)
  })

  it('goes with its SVM, and keeps the schedule that it names', async () => {
    await done('POST', '/api/svm/svms', { name: 'svm-of-guide' })
    await done('POST', '/api/cluster/schedules', { name: 'of-guide', cron: { minutes: [5] } })
    const path = await made('kept', { svm: { name: 'svm-of-guide' }, schedule: { name: 'of-guide' } })
    const schedule = `/api/cluster/schedules/${await test.uuidOf('/api/cluster/schedules', 'of-guide')}`
    const refused = await call('DELETE', schedule)
    assert.deepEqual([refused.status, refused.body['error']?.['code']], [409, codeOf('scheduleInUse')])
    assert.match(asText(refused.body['error']?.['message']), /maintenance window "kept"/)
    await done('DELETE', `/api/svm/svms/${await test.uuidOf('/api/svm/svms', 'svm-of-guide')}`)
    assert.equal((await call('GET', path)).status, 404)
    await done('DELETE', schedule)
  })

  it('adds lines to the golden files, and changes none that is there', async () => {
    const { goldenTexts } = (await load('test/golden/texts.ts')) as { goldenTexts: () => Record<string, string> }
    const rows = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => line.replaceAll(/\s+/g, ' '))
    const added = Object.entries(goldenTexts()).flatMap(([golden, text]) => {
      const before = rows(read(`test/golden/${golden}.txt`))
      const now = new Set(rows(text))
      assert.deepEqual(
        before.filter((line) => !now.has(line)),
        [],
      )
      return now.size > new Set(before).size ? [golden] : []
    })
    assert.deepEqual(added, GOLDEN)
    assert.deepEqual(Object.keys(behaviour.failures ?? {}), ['windowTooLong'])
  })

  it('has no other file changed: types and all tests that go over resources agree', { skip: WHOLE }, async () => {
    const copy = join(folder, 'copy')
    const own = new Set(['.git', '.tmp', 'node_modules', 'data'])
    cpSync(root, copy, { recursive: true, filter: (from) => !own.has(from.slice(root.length + 1)) })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    for (const [path, text] of Object.entries(changed)) writeFileSync(join(copy, path), text)
    const node = (args: readonly string[], env = {}) =>
      promisify(execFile)(process.execPath, args, { cwd: copy, env: { ...process.env, ...env }, maxBuffer: 2 ** 26 })
    await node(['node_modules/typescript/bin/tsc', '--noEmit'])
    await node(['node_modules/oxfmt/bin/oxfmt', '--check', file, INDEX])
    await node(['node_modules/oxlint/bin/oxlint', '--deny-warnings', file, INDEX])
    await node(['--test', 'test/golden/golden.test.ts'], { UPDATE_GOLDEN: '1', NODE_TEST_CONTEXT: undefined })
    await node(['--test', ...TESTS_OF_ALL], { NODE_TEST_CONTEXT: undefined, HOLDFAST_TEST_WHOLE: undefined })
    const inCopy = (path: string) => readFileSync(join(copy, path), 'utf8')
    const differing = globSync('{bench,bin,docs,src,test}/**/*.*', { cwd: copy })
      .filter((path) => statSync(join(copy, path)).isFile())
      .filter((path) => !existsSync(join(root, path)) || read(path) !== inCopy(path))
    const golden = GOLDEN.map((name) => `test/golden/${name}.txt`)
    assert.deepEqual(differing.toSorted(), [file, INDEX, ...golden].toSorted())
  })
})

/** Tests that look at every resource, whatever it is. */
const TESTS_OF_ALL: readonly string[] = [
  'test/failures-and-events.test.ts',
  'test/field-docs.test.ts',
  'test/tidy.test.ts',
  'test/golden/golden.test.ts',
  'test/conformance/actions.test.ts',
  'test/conformance/bad-input.test.ts',
  'test/conformance/openapi-examples.test.ts',
  'test/conformance/releases.test.ts',
  'test/simulation/jobs-broken.test.ts',
  'src/model/kinds/kinds.test.ts',
  'src/resources/belongings.test.ts',
  'src/resources/declarations.test.ts',
  'src/resources/inline-verbs.test.ts',
  'src/resources/within.test.ts',
]

/** A tree in which these files are written, and everything else is a link into another one. */
function link(from: string, to: string, own: Readonly<Record<string, string>>, below = ''): void {
  mkdirSync(to, { recursive: true })
  const files = Object.keys(own).filter((path) => path.startsWith(below))
  const written = new Map(files.map((path) => [path.slice(below.length).split('/', 1)[0] ?? '', path]))
  for (const entry of readdirSync(from))
    if (!written.has(entry) && entry !== '.git') symlinkSync(join(from, entry), join(to, entry))
  for (const [entry, path] of written) {
    if (path === below + entry) writeFileSync(join(to, entry), own[path] ?? '')
    else link(join(from, entry), join(to, entry), own, `${below}${entry}/`)
  }
}
