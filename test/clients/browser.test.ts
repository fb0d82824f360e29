/** A real browser on a page of another origin: a signed form, and scripts that the rules of the bucket let through. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, afterEach, before, it } from 'node:test'
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketCorsCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { presign } from '../../src/s3/auth/sign.ts'
import { startProduct, type Product } from '../support/product.ts'
import { describeUnless, reasonUnlessWhole, reasonWithout } from './programs.ts'
import { sdkFor } from './sdk.ts'

const skip = reasonUnlessWhole('test/conformance/s3/put-bucket-cors.test.ts') || reasonWithout('chromium')
const PAGE_MS = 40_000
const REGION = 'us-east-1'
/** Without a window, and without what a browser does on its own. */
const QUIETLY = [
  '--headless=new',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-extensions',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
  '--no-proxy-server',
]

describeUnless(skip, 'a page in chromium', { timeout: 150_000 }, () => {
  let product: Product
  let client: S3Client
  let work: string
  let site: Site
  let browser: ChildProcess | undefined

  before(async () => {
    work = await mkdtemp(join(tmpdir(), 'holdfast-browser-'))
    product = await startProduct()
    client = sdkFor(product)
    site = await Site.start()
    // Also when the tests are interrupted.
    process.once('exit', () => browser?.kill('SIGKILL'))
    for (const Bucket of ['uploads', 'closed']) await client.send(new CreateBucketCommand({ Bucket }))
  })
  afterEach(async () => {
    if (browser === undefined) return
    const ended = once(browser, 'exit')
    browser.kill('SIGKILL')
    await ended
    browser = undefined
  })
  after(async () => {
    await site.stop()
    client.destroy()
    await product.stop()
    await rm(work, { recursive: true, force: true, maxRetries: 5 })
  })

  /** Opens a page of the site, and waits until what it does has led to a request of that path. */
  const open = async (page: string, path: string): Promise<Visit> => {
    const visit = site.visitTo(path)
    browser = spawn(
      'chromium',
      [
        ...QUIETLY,
        // The sandbox does not work for root. The pages are ours.
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
        `--user-data-dir=${join(work, 'profile')}`,
        `${site.origin}/${page}`,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: process.env['PATH'], HOME: work, LANG: 'C.UTF-8' } },
    )
    let said = ''
    browser.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const isLate = AbortSignal.timeout(PAGE_MS)
    const late = once(isLate, 'abort').then(() => {
      throw new Error(`The page did not get as far as ${path}: ${site.seen.join(', ')}\n${said.slice(-2000)}`)
    })
    return Promise.race([visit, late])
  }

  const signedAddress = (
    method: string,
    bucket: string,
    key: string,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const origin = new URL(product.s3Http ?? '')
    const rawPath = `/${bucket}/${key}`
    const query = presign(
      { method, rawPath, headers: { host: origin.host, ...headers } },
      { accessKey: product.accessKey, secret: product.secretKey, region: REGION },
      { now: new Date(), expiresSeconds: 300 },
    )
    return `${origin.origin}${rawPath}?${query}`
  }

  it('uploads a file by a signed form and is sent on to where the form says', async () => {
    site.files.set(
      '/form.json',
      signedForm(product, `${site.origin}/done?from=form`, {
        name: 'ein brief ü.txt',
        type: 'text/plain',
        text: 'Grüße',
      }),
    )
    const { query } = await open('form.html', '/done')
    const key = 'from a page/ein brief ü.txt'
    assert.equal(query.get('from'), 'form')
    assert.equal(query.get('bucket'), 'uploads')
    assert.equal(query.get('key'), key)
    const object = await client.send(new GetObjectCommand({ Bucket: 'uploads', Key: key }))
    assert.equal(await object.Body?.transformToString(), 'Grüße')
    assert.equal(query.get('etag'), object.ETag)
    assert.equal(object.ETag, `"${createHash('md5').update('Grüße').digest('hex')}"`)
    assert.deepEqual(object.Metadata, { colour: 'green' })
    assert.equal(object.ContentType, 'text/plain; charset=utf-8')
  })

  it('puts and gets from another origin after the rules of the bucket said so', async () => {
    await client.send(
      new PutBucketCorsCommand({
        Bucket: 'uploads',
        CORSConfiguration: {
          CORSRules: [
            {
              AllowedOrigins: [site.origin],
              AllowedMethods: ['PUT', 'GET'],
              AllowedHeaders: ['content-type', 'x-amz-meta-*'],
              ExposeHeaders: ['ETag'],
            },
          ],
        },
      }),
    )
    const body = 'written by a script'
    const headers = { 'content-type': 'text/x-script', 'x-amz-meta-colour': 'red' }
    site.files.set('/fetch.json', [
      { address: signedAddress('PUT', 'uploads', 'script', headers), method: 'PUT', headers, body },
      { address: signedAddress('GET', 'uploads', 'script') },
      // Not in the rules: a method, a header, and a bucket that has none.
      { address: signedAddress('DELETE', 'uploads', 'script'), method: 'DELETE' },
      { address: signedAddress('GET', 'uploads', 'script'), headers: { 'x-other': '1' } },
      { address: signedAddress('PUT', 'closed', 'script'), method: 'PUT', body },
      { address: signedAddress('GET', 'closed', 'script') },
      // A refusal of the store is an answer that the page may read.
      { address: signedAddress('GET', 'uploads', 'missing') },
    ])
    const visit = await open('fetch.html', '/report')
    const report = JSON.parse(visit.body) as readonly Record<string, unknown>[]
    const etag = `"${createHash('md5').update(body).digest('hex')}"`
    const refused = { refused: 'TypeError' }
    assert.deepEqual(report.slice(0, 6), [
      { status: 200, etag, requestId: null, text: '' },
      { status: 200, etag, requestId: null, text: body },
      refused,
      refused,
      refused,
      refused,
    ])
    assert.equal(report[6]?.['status'], 404)
    assert.match(report[6]?.['text'] as string, /<Code>NoSuchKey<\/Code>/)

    const head = await client.send(new HeadObjectCommand({ Bucket: 'uploads', Key: 'script' }))
    assert.deepEqual([head.ContentType, head.Metadata], ['text/x-script', { colour: 'red' }])
    assert.equal((await client.send(new ListObjectsV2Command({ Bucket: 'closed' }))).KeyCount, 0)
  })
})

/** A form as a server signs it for its page, by the book and without the product's code. */
function signedForm(
  product: Product,
  redirect: string,
  file: { readonly name: string; readonly type: string; readonly text: string },
): unknown {
  const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const scope = [stamp.slice(0, 8), REGION, 's3', 'aws4_request']
  const signed = {
    'x-amz-algorithm': 'AWS4-HMAC-SHA256',
    'x-amz-credential': [product.accessKey, ...scope].join('/'),
    'x-amz-date': stamp,
    'x-amz-meta-colour': 'green',
    'Content-Type': 'text/plain; charset=utf-8',
    success_action_redirect: redirect,
  }
  const conditions = [
    { bucket: 'uploads' },
    ['starts-with', '$key', 'from a page/'],
    ['content-length-range', 1, 1000],
    ...Object.entries(signed).map(([name, value]) => ({ [name]: value })),
  ]
  const expiration = new Date(Date.now() + 300_000).toISOString()
  const policy = Buffer.from(JSON.stringify({ expiration, conditions })).toString('base64')
  const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${product.secretKey}`)
  return {
    address: `${product.s3Http}/uploads`,
    fields: { key: 'from a page/${filename}', ...signed, policy, 'x-amz-signature': hmac(key, policy).toString('hex') },
    file,
  }
}

interface Visit {
  readonly query: URLSearchParams
  readonly body: string
}

/** Where the pages come from, and what they report to. */
class Site {
  readonly files = new Map<string, unknown>()
  readonly seen: string[] = []
  readonly #waiting = new Map<string, (visit: Visit) => void>()
  readonly #server: Server

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  static async start(): Promise<Site> {
    const site = new Site()
    site.#server.listen(0, '127.0.0.1')
    await once(site.#server, 'listening')
    return site
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  visitTo(path: string): Promise<Visit> {
    return new Promise((resolve) => this.#waiting.set(path, resolve))
  }

  async stop(): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', this.origin)
    this.seen.push(`${request.method} ${url.pathname}`)
    const body = await text(request)
    const file = this.files.get(url.pathname)
    if (file !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(file))
    } else if (/^\/[a-z]+\.html$/.test(url.pathname)) {
      const page = await readFile(new URL(`pages${url.pathname}`, import.meta.url))
      response.writeHead(200, { 'content-type': 'text/html' }).end(page)
    } else {
      response.writeHead(this.#waiting.has(url.pathname) ? 200 : 404, { 'content-type': 'text/plain' }).end()
      this.#waiting.get(url.pathname)?.({ query: url.searchParams, body })
    }
  }
}
