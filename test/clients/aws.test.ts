/**
 * The AWS command line beyond copying a tree. A whole run tries each that is installed: the system's may be years older
 * than one from elsewhere on the path, and they send other checksums.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { startProduct, type Product } from '../support/product.ts'
import { describeUnless, reasonWithoutTime, runnerFor, type Run } from './programs.ts'
import { compareTree, isWhole, sha256OfFile, type TreeFile } from './tree.ts'

const MIB = 2 ** 20
/** Each call takes a second, and several on a busy machine. */
const SUITE_MS = 600_000
const SYSTEM = '/usr/bin/aws'

interface Listed {
  readonly Versions: readonly { readonly VersionId: string }[]
  readonly DeleteMarkers: readonly { readonly IsLatest: boolean }[]
}

interface Deletion {
  readonly Deleted: readonly unknown[]
}

for (const program of [SYSTEM, ...(isWhole ? elsewhere() : [])]) {
  const skip = reasonWithoutTime(program, 'test/clients/tools.test.ts')
  describeUnless(skip, `aws (${skip === false ? versionOf(program) : program})`, { timeout: SUITE_MS }, () => {
    let product: Product
    let work: string
    let run: Run
    const call = async (...args: readonly string[]) =>
      (await run(program, ['--endpoint-url', product.s3Http ?? '', ...args])).stdout
    const s3 = (...args: readonly string[]) => call('s3', ...args)
    /** The answer, when there is one. */
    const api = async <Answer>(...args: readonly string[]) => {
      const text = await call('s3api', ...args, '--output', 'json')
      return (text.trim() === '' ? {} : JSON.parse(text)) as Answer
    }
    const keys = async (place: string) => {
      const lines = (await s3('ls', '--recursive', place)).trim().split('\n')
      return lines.map((line) => line.split(/\s+/).slice(3).join(' ')).toSorted()
    }

    before(async () => {
      work = await mkdtemp(join(tmpdir(), 'holdfast-aws-'))
      product = await startProduct({ environment: { HOLDFAST_WORKERS: '2' } })
      run = runnerFor(product, work)
      await s3('mb', 's3://first')
    })
    after(async () => {
      await product.stop()
      await rm(work, { recursive: true, force: true })
    })

    it('copies a large file up in parts, between keys on the server, and down', async () => {
      const [from, to] = [join(work, 'large'), join(work, 'large back')]
      await writeFile(from, randomBytes(21 * MIB + 1))
      await s3('cp', '--only-show-errors', from, 's3://first/large')
      await s3('cp', '--only-show-errors', 's3://first/large', 's3://first/copy of large')
      await s3('cp', '--only-show-errors', 's3://first/copy of large', to)
      assert.equal(await sha256OfFile(to), await sha256OfFile(from))
      const head = await api<{ ETag: string }>('head-object', '--bucket', 'first', '--key', 'large')
      assert.match(head.ETag, /-3"$/)
    })

    it('copies from and to a pipe', async () => {
      const shell = 'printf "%s" piped | "$0" "$@" s3 cp - s3://first/piped && "$0" "$@" s3 cp s3://first/piped -'
      const { stdout } = await run('sh', ['-c', shell, program, '--endpoint-url', product.s3Http ?? ''])
      assert.equal(stdout, 'piped')
    })

    it('syncs a folder: what changed goes up, what is gone goes away', async () => {
      const from = join(work, 'tree')
      const files: TreeFile[] = []
      const write = async (key: string, text: string) => {
        await mkdir(join(from, key, '..'), { recursive: true })
        await writeFile(join(from, key), text)
        return { key, path: join(from, key), sizeBytes: text.length }
      }
      for (const key of ['a', 'b/c d', 'b/ü+%', 'gone']) files.push(await write(key, key))
      assert.equal((await s3('sync', '--no-progress', from, 's3://first/tree')).trim().split('\n').length, 4)
      assert.equal(await s3('sync', '--no-progress', from, 's3://first/tree'), '')
      await write('a', 'changed since')
      await rm(join(from, 'gone'))
      const second = await s3('sync', '--no-progress', '--delete', from, 's3://first/tree')
      assert.equal(second.trim().split('\n').length, 2)
      await s3('sync', '--only-show-errors', 's3://first/tree', join(work, 'tree back'))
      await compareTree(
        files.filter((file) => file.key !== 'gone'),
        join(work, 'tree back'),
      )
    })

    it('moves and removes', async () => {
      await s3('mv', '--recursive', '--only-show-errors', 's3://first/tree', 's3://first/moved')
      assert.deepEqual(await keys('s3://first/moved/'), ['moved/a', 'moved/b/c d', 'moved/b/ü+%'])
      await s3('rm', '--only-show-errors', 's3://first/moved/a')
      await s3('rm', '--recursive', '--only-show-errors', '--exclude', '*+*', 's3://first/moved')
      assert.deepEqual(await keys('s3://first/moved/'), ['moved/b/ü+%'])
    })

    it('signs an address that anyone may use', async () => {
      // Version 1 of the program signs addresses as of old (Signature Version 2) unless it is told otherwise.
      const settings = join(work, 'settings')
      await writeFile(settings, '[default]\ns3 =\n  signature_version = s3v4\n')
      const presign = [
        '--endpoint-url',
        product.s3Http ?? '',
        's3',
        'presign',
        '--expires-in',
        '60',
        's3://first/piped',
      ]
      const { stdout } = await run(program, presign, { environment: { AWS_CONFIG_FILE: settings } })
      const address = stdout.trim()
      assert.equal(await (await fetch(address)).text(), 'piped')
      assert.equal((await fetch(address.replace('piped', 'large'))).status, 403)
    })

    it('puts and gets with each checksum that it knows', async () => {
      const file = join(work, 'summed')
      await writeFile(file, 'summed')
      // It needs a library for CRC32C, which not every installation has.
      for (const algorithm of ['CRC32', 'SHA1', 'SHA256']) {
        const object = ['--bucket', 'first', '--key', algorithm]
        const sent = ['--body', file, '--checksum-algorithm', algorithm]
        const put = await api<Record<string, string>>('put-object', ...object, ...sent)
        assert.ok(put[`Checksum${algorithm}`] !== undefined, JSON.stringify(put))
        const wanted = ['--checksum-mode', 'ENABLED', join(work, 'back')]
        const got = await api<Record<string, string>>('get-object', ...object, ...wanted)
        assert.equal(got[`Checksum${algorithm}`], put[`Checksum${algorithm}`])
        assert.equal(await readFile(join(work, 'back'), 'utf8'), 'summed')
      }
    })

    it('lists versions and brings one back', async () => {
      await s3('mb', 's3://versions')
      const bucket = ['--bucket', 'versions']
      await api('put-bucket-versioning', ...bucket, '--versioning-configuration', 'Status=Enabled')
      assert.deepEqual(await api('get-bucket-versioning', ...bucket), { Status: 'Enabled' })
      const put = async (text: string) => {
        await writeFile(join(work, 'version'), text)
        const object = ['--key', 'key', '--body', join(work, 'version')]
        return (await api<{ VersionId: string }>('put-object', ...bucket, ...object)).VersionId
      }
      const versions = [await put('one'), await put('two')]
      await s3('rm', '--only-show-errors', 's3://versions/key')
      const listed = await api<Listed>('list-object-versions', ...bucket)
      assert.deepEqual(
        listed.Versions.map((each) => each.VersionId),
        versions.toReversed(),
      )
      assert.deepEqual(
        listed.DeleteMarkers.map((each) => each.IsLatest),
        [true],
      )
      const source = `versions/key?versionId=${versions[0]}`
      await api('copy-object', ...bucket, '--key', 'key', '--copy-source', source)
      assert.equal(await s3('cp', 's3://versions/key', '-'), 'one')
    })

    it('deletes many in one request', async () => {
      const Objects = ['CRC32', 'SHA1', 'SHA256', 'never was'].map((Key) => ({ Key }))
      const keysToDelete = JSON.stringify({ Objects })
      const { Deleted } = await api<Deletion>('delete-objects', '--bucket', 'first', '--delete', keysToDelete)
      assert.equal(Deleted.length, 4)
      assert.ok(!(await keys('s3://first')).includes('SHA256'))
    })

    it('puts, reads and deletes a policy', async () => {
      const policy = {
        Version: '2012-10-17',
        Statement: [
          {
            Sid: 'open',
            Effect: 'Allow',
            Principal: '*',
            Action: 's3:GetObject',
            Resource: 'arn:aws:s3:::first/piped',
          },
        ],
      }
      const bucket = ['--bucket', 'first']
      await api('put-bucket-policy', ...bucket, '--policy', JSON.stringify(policy))
      const { Policy } = await api<{ Policy: string }>('get-bucket-policy', ...bucket)
      assert.equal((JSON.parse(Policy) as typeof policy).Statement[0]?.Sid, 'open')
      assert.equal(await (await fetch(`${product.s3Http}/first/piped`)).text(), 'piped')
      await api('delete-bucket-policy', ...bucket)
      assert.equal((await fetch(`${product.s3Http}/first/piped`)).status, 403)
      await assert.rejects(api('get-bucket-policy', ...bucket), /NoSuchBucketPolicy/)
    })

    it('puts, reads and deletes rules for other origins', async () => {
      const bucket = ['--bucket', 'first']
      const CORSRules = [
        {
          ID: 'page',
          AllowedOrigins: ['https://page.example'],
          AllowedMethods: ['GET', 'PUT'],
          AllowedHeaders: ['*'],
          ExposeHeaders: ['ETag'],
          MaxAgeSeconds: 60,
        },
      ]
      await api('put-bucket-cors', ...bucket, '--cors-configuration', JSON.stringify({ CORSRules }))
      assert.deepEqual(await api('get-bucket-cors', ...bucket), { CORSRules })
      await api('delete-bucket-cors', ...bucket)
      await assert.rejects(api('get-bucket-cors', ...bucket), /NoSuchCORSConfiguration/)
    })

    it('puts, reads and deletes a lifecycle', async () => {
      const bucket = ['--bucket', 'first']
      const Rules = [
        {
          ID: 'logs',
          Status: 'Enabled',
          Filter: { And: { Prefix: 'logs/', Tags: [{ Key: 'kind', Value: 'log' }] } },
          Expiration: { Days: 30 },
        },
        {
          ID: 'uploads',
          Status: 'Enabled',
          Filter: { Prefix: '' },
          AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 },
        },
      ]
      const configuration = JSON.stringify({ Rules })
      await api('put-bucket-lifecycle-configuration', ...bucket, '--lifecycle-configuration', configuration)
      const got = await api<{ Rules: { ID: string }[] }>('get-bucket-lifecycle-configuration', ...bucket)
      const byName = (rules: readonly { ID: string }[]) => rules.toSorted((a, b) => (a.ID < b.ID ? -1 : 1))
      assert.deepEqual(byName(got.Rules), Rules)
      await api('delete-bucket-lifecycle', ...bucket)
      await assert.rejects(api('get-bucket-lifecycle-configuration', ...bucket), /NoSuchLifecycleConfiguration/)
    })

    it('tags an object', async () => {
      const object = ['--bucket', 'first', '--key', 'piped']
      const TagSet = [{ Key: 'stage', Value: 'a test + more = ü' }]
      await api('put-object-tagging', ...object, '--tagging', JSON.stringify({ TagSet }))
      assert.deepEqual((await api<{ TagSet: unknown }>('get-object-tagging', ...object)).TagSet, TagSet)
      await api('delete-object-tagging', ...object)
      assert.deepEqual((await api<{ TagSet: unknown }>('get-object-tagging', ...object)).TagSet, [])
    })

    it('locks objects, by default, each and by hold', async () => {
      const bucket = ['--bucket', 'locked']
      await api('create-bucket', ...bucket, '--object-lock-enabled-for-bucket')
      const Rule = { DefaultRetention: { Mode: 'GOVERNANCE', Days: 1 } }
      const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled', Rule }
      const text = JSON.stringify(ObjectLockConfiguration)
      await api('put-object-lock-configuration', ...bucket, '--object-lock-configuration', text)
      assert.deepEqual(await api('get-object-lock-configuration', ...bucket), { ObjectLockConfiguration })

      const { VersionId } = await api<{ VersionId: string }>('put-object', ...bucket, '--key', 'kept')
      const version = [...bucket, '--key', 'kept', '--version-id', VersionId]
      const { Retention } = await api<{ Retention: { Mode: string } }>('get-object-retention', ...version)
      assert.equal(Retention.Mode, 'GOVERNANCE')
      await assert.rejects(api('delete-object', ...version), /AccessDenied/)

      await api('put-object-legal-hold', ...version, '--legal-hold', 'Status=ON')
      assert.deepEqual(await api('get-object-legal-hold', ...version), { LegalHold: { Status: 'ON' } })
      await assert.rejects(api('delete-object', ...version, '--bypass-governance-retention'), /AccessDenied/)
      await api('put-object-legal-hold', ...version, '--legal-hold', 'Status=OFF')

      const until = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+/, '')
      const shorter = ['--retention', `Mode=GOVERNANCE,RetainUntilDate=${until}`]
      await assert.rejects(api('put-object-retention', ...version, ...shorter), /AccessDenied/)
      await api('put-object-retention', ...version, ...shorter, '--bypass-governance-retention')
      await api('delete-object', ...version, '--bypass-governance-retention')
    })

    it('removes a bucket with all that is in it', async () => {
      await s3('rb', '--force', 's3://first')
      assert.doesNotMatch(await s3('ls'), /first/)
    })
  })
}

/** Another one on the path, unless it is the system's too. */
function elsewhere(): string[] {
  const found = spawnSync('sh', ['-c', 'command -v aws'], { encoding: 'utf8' }).stdout.trim()
  return found === '' || found === SYSTEM || versionOf(found) === versionOf(SYSTEM) ? [] : [found]
}

function versionOf(program: string): string {
  return spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout?.split(' ')[0] ?? ''
}
