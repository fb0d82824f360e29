/**
 * What the documents say is true: what they name exists, their code is the code, their commands work and print what they
 * say they print.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { keptResults } from '../bench/performance.ts'
import { pageOf } from '../bench/speed/page.ts'
import { codeBlocks, consoles, shape, type Step } from './support/documents.ts'
import { takeNoSnapshots } from './support/product.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'bench/README.md',
  ...globSync('{docs,changes}/**/*.md', { cwd: root }),
]
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const scripts = (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts

describe('documents', () => {
  for (const file of documents) {
    it(`${file} links to what exists`, () => {
      for (const [, target = ''] of withoutCode(read(file)).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
        if (/^https?:/.test(target)) continue
        assert.ok(existsSync(join(root, dirname(file), target)), `${target} exists`)
      }
    })

    it(`${file} names commands, files and variables that exist`, () => {
      const text = read(file)
      for (const [, name = ''] of text.matchAll(/npm (?:run )?([a-z-]+)/g)) {
        assert.ok(name in scripts || ['install', 'ci'].includes(name), `the script ${name} exists`)
      }
      for (const [, path = ''] of text.matchAll(/`((?:src|test|bench|docs|bin|\.ci)\/[\w./-]+)`/g)) {
        assert.ok(existsSync(join(root, path)), `${path} exists`)
      }
      const known =
        read('bin/settings.ts') +
        read('test/support/whole.ts') +
        read('test/golden/golden.test.ts') +
        read('test/conformance/s3/target.ts')
      for (const [name] of text.matchAll(/\b(?:HOLDFAST|UPDATE)_[A-Z_]+\b/g)) {
        assert.ok(known.includes(name), `${name} means something`)
      }
    })
  }

  it('decisions have a number each, are dated, and say what would change our minds', () => {
    const decisions = globSync('docs/decisions/*.md', { cwd: root })
    assert.ok(decisions.length > 0)
    const numbers = decisions.map((file) => Number(/\/(\d{4})-[a-z0-9-]+\.md$/.exec(file)?.[1]))
    // A number is taken when the work begins, and pages come when it is done: there may be gaps meanwhile.
    assert.equal(new Set(numbers).size, decisions.length)
    for (const [at, file] of decisions.entries()) {
      const text = read(file)
      assert.match(text, new RegExp(`^# ${numbers[at]}\\. .+\\n\\n20\\d\\d-\\d\\d-\\d\\d\\n`))
      assert.match(text, /\*\*What would change our minds\.\*\*/)
    }
  })

  it('the guide to a new resource shows the code of the resource as it is', () => {
    const [guide = '', ...blocks] = codeBlocks(read('docs/guides/add-a-resource.md'), 'ts')
    assert.equal(guide, read('src/resources/cluster/ntp/servers.ts'))
    const index = read('src/resources/index.ts')
    // The others are of a resource that is not in the product: guide-to-resources.test.ts follows them.
    for (const block of blocks.slice(0, 2)) assert.ok(index.includes(block), `the index has ${block}`)
  })

  it('docs/performance.md is made of the results that are kept', () => {
    const again = 'Run node_modules/.bin/node bench/performance.ts.'
    assert.equal(pageOf(keptResults()), read('docs/performance.md'), again)
  })

  it('every flag of the benchmark that is named is one', () => {
    const usage = read('bench/settings.ts')
    for (const [, flags = ''] of read('CONTRIBUTING.md').matchAll(/npm run bench -- ([^`]+)`/g)) {
      for (const flag of flags.split(' ')) assert.ok(usage.includes(`  ${flag} `), flag)
    }
  })
})

describe('commands of the documents', () => {
  /** That of the first terminal of the README, which the other commands ask. */
  let cluster: Begun
  let work: string
  const missing = ['curl', '/usr/bin/aws', 'bash'].filter((name) => spawnSync(name, ['--version']).status !== 0)
  const skip = missing.length === 0 ? false : `${missing.join(', ')} not installed`
  const [first = []] = consoles(read('README.md'))
  const [environment, start] = first

  before(async () => {
    work = await mkdtemp(join(tmpdir(), 'holdfast-docs-'))
    cluster = await startedWith(`${environment?.command}\nexec ${process.execPath} bin/launch.mjs start`, work)
    await takeNoSnapshots(cluster.management, 'admin:tour-password')
  })
  after(async () => {
    await cluster.stop()
    await rm(work, { recursive: true, force: true })
  })

  /** A document's addresses become those of the cluster that runs; its `aws` the one of the system. */
  const here = (text: string) =>
    text
      .replaceAll('https://127.0.0.1:8443', cluster.management)
      .replaceAll('http://127.0.0.1:9080', cluster.s3Http)
      .replaceAll(/^aws /gm, '/usr/bin/aws ')

  it('README: the first terminal ends with a ready cluster', () => {
    assert.equal(start?.command, 'npm start')
    assert.match(scripts['start'] ?? '', /node bin\/launch\.mjs start$/)
    for (const line of shape(start.output))
      assert.ok(shape(cluster.said).includes(line), `${line} is in\n${cluster.said}`)
  })

  it('README: the second terminal prints what it says', { skip, timeout: 60_000 }, () => {
    const [, second = []] = consoles(read('README.md'))
    follow([...first.slice(0, 1), ...second])
  })

  it('the guide to a new resource prints what it says', { skip, timeout: 60_000 }, () => {
    for (const steps of consoles(read('docs/guides/add-a-resource.md'))) follow(steps)
  })

  it('the guide to S3 clients runs', { skip, timeout: 60_000 }, () => {
    const [aws = [], users = []] = consoles(read('docs/guides/use-with-aws-cli-rclone-s3cmd.md'))
    const [, made = '', , listed = '', ...rest] = shell([...aws, ...users].map((step) => step.command))
    assert.deepEqual(shape(made), shape(aws[1]?.output ?? ''))
    assert.match(listed, /PRE decisions\/[^]* differences\.md/)
    const listing = rest.join('')
    assert.match(listing, /"secret_key":"[^"]+"/)
    assert.doesNotMatch(listing, /"error"/)
  })

  /** Runs commands one after the other in one shell; each must print what the document says, but for what is new each time. */
  function follow(steps: readonly Step[]): void {
    const outputs = shell(steps.map((step) => step.command))
    for (const [at, { command, output }] of steps.entries()) {
      assert.deepEqual(shape(outputs[at] ?? ''), shape(output), command)
    }
  }

  function shell(commands: readonly string[]): string[] {
    const mark = '==== next ===='
    const script = commands.map((command) => `${here(command)}\necho\necho '${mark}'`).join('\n')
    const ran = spawnSync('bash', ['-c', `exec 2>&1\n${script}`], {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: work, LANG: 'C.UTF-8' },
    })
    return ran.stdout.split(mark)
  }
})

function withoutCode(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, '')
}

interface Begun {
  /** What it printed, with the ports of the document in place of its own. */
  readonly said: string
  readonly management: string
  readonly s3Http: string
  /** Ends it, and insists that it ends in order. */
  stop(): Promise<void>
}

/** Runs a start in a data folder of its own, at ports that are free, until it is ready. */
async function startedWith(script: string, work: string): Promise<Begun> {
  const file = join(work, 'start.sh')
  await writeFile(file, script)
  const child = spawn('bash', [file], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      HOLDFAST_DATA: join(work, 'data'),
      HOLDFAST_MANAGEMENT: '127.0.0.1:0',
      HOLDFAST_S3: '127.0.0.1:0',
      HOLDFAST_S3_HTTP: '127.0.0.1:0',
      HOLDFAST_WORKERS: '1',
      HOLDFAST_LOG: 'warn',
    },
  })
  const killed = () => void child.kill('SIGKILL')
  process.on('exit', killed)
  let said = ''
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', resolve)
  })
  const isReady = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.includes('in a browser')) resolve()
    })
  })
  const over = await Promise.race([isReady, ended.then(() => 'over')])
  assert.notEqual(over, 'over', said)
  const { management, s3, s3Http } = {
    management: /Management +(\S+)/.exec(said)?.[1] ?? '?',
    s3: /S3 +(https\S+)/.exec(said)?.[1] ?? '?',
    s3Http: /S3 without TLS +(\S+)/.exec(said)?.[1] ?? '?',
  }
  return {
    said: said
      .replaceAll(management, 'https://127.0.0.1:8443')
      .replaceAll(s3, 'https://127.0.0.1:9443')
      .replaceAll(s3Http, 'http://127.0.0.1:9080'),
    management,
    s3Http,
    async stop() {
      child.kill('SIGTERM')
      assert.equal(await ended, 0, said)
      process.off('exit', killed)
    },
  }
}
