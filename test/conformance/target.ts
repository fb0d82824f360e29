/**
 * The cluster that the conformance tests ask. Any one will do: HOLDFAST_TEST_MANAGEMENT (with HOLDFAST_TEST_USER and
 * HOLDFAST_TEST_PASSWORD) and HOLDFAST_TEST_S3 (with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY) name one that runs;
 * without them, the product is started for the tests. What they make there, they delete.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openCertificate } from '../../src/engines/certificate.ts'
import { serveManagement } from '../../src/faces/rest/server.ts'
import { asText, recordsOf, type Body } from '../support/body.ts'
import { ADMIN_PASSWORD, basic, startTestCluster } from '../support/cluster.ts'
import { fresh, startProduct } from '../support/product.ts'
import { RestClient, type Reply } from '../support/rest-client.ts'
import { isWhole } from '../support/whole.ts'

export interface Target {
  readonly api: RestClient
  readonly user: string
  readonly password: string
  readonly s3: string | undefined
  readonly accessKey: string
  readonly secretKey: string
}

/** What to let go of after the tests of the file, the last taken first. */
const closing: (() => Promise<unknown>)[] = []

/** Not at the top of this module, which is loaded once for all the files of a process. */
function closeAfterwards(): void {
  // A target that is opened within a test goes with the test, and nothing of the file's with it.
  const from = closing.length
  after(async () => {
    for (const close of closing.splice(from).toReversed()) await close()
  })
}

/** The cluster to ask. To be called at the top of a file, or in a test; it is let go of after that. */
export async function openTarget(environment: Readonly<Record<string, string>> = {}): Promise<Target> {
  closeAfterwards()
  const given = process.env['HOLDFAST_TEST_MANAGEMENT']
  if (given !== undefined && Object.keys(environment).length === 0) {
    const user = process.env['HOLDFAST_TEST_USER'] ?? 'admin'
    const password = process.env['HOLDFAST_TEST_PASSWORD'] ?? ''
    const api = new RestClient(given, basic(user, password))
    closing.push(() => Promise.resolve(api.close()))
    return {
      api,
      user,
      password,
      s3: process.env['HOLDFAST_TEST_S3'],
      accessKey: process.env['AWS_ACCESS_KEY_ID'] ?? '',
      secretKey: process.env['AWS_SECRET_ACCESS_KEY'] ?? '',
    }
  }
  const product = await startProduct({ environment })
  const api = new RestClient(product.management, basic(product.user, product.password))
  closing.push(() => {
    api.close()
    return product.stop()
  })
  return { ...product, api }
}

/**
 * The same, with the cluster in this process behind the real management address: for tests of that interface alone, whose
 * requests cost a third of what the product's processes make of them, beside its start. `.ci/run` asks the product.
 */
export async function openTargetHere(options: HereOptions = {}): Promise<Target> {
  if (isWhole || process.env['HOLDFAST_TEST_MANAGEMENT'] !== undefined) return openTarget(environmentOf(options))
  closeAfterwards()
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-here-'))
  const cluster = await startTestCluster(options)
  const management = await serveManagement(
    {
      actions: cluster.actions,
      authenticate: (given, from) => cluster.login.authenticate(given, from),
      wireDialect: () => Promise.resolve('auto'),
    },
    {
      ...(await openCertificate(folder, Date.now())),
      host: '127.0.0.1',
      port: 0,
      browserFolder: dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')),
      isReady: () => Promise.resolve(true),
    },
  )
  const api = new RestClient(`https://127.0.0.1:${management.port}`, basic('admin', ADMIN_PASSWORD))
  closing.push(async () => {
    api.close()
    await management.close()
    await cluster.close()
    await rm(folder, { recursive: true })
  })
  return { api, user: 'admin', password: ADMIN_PASSWORD, s3: undefined, accessKey: '', secretKey: '' }
}

interface HereOptions {
  /** The release that it serves. */
  readonly release?: string
  /** Without the first SVM and what is in it. */
  readonly isBare?: boolean
}

const environmentOf = ({ release, isBare = false }: HereOptions): Readonly<Record<string, string>> => ({
  ...(release === undefined ? {} : { HOLDFAST_RELEASE: release }),
  ...(isBare ? { HOLDFAST_BARE: '1' } : {}),
})

/** A client of the native dialect. */
export const NATIVE = { headers: { 'x-dot-client-app': 'conformance' } }

export const GB = 2 ** 30
export const TB = 2 ** 40

/** Things to delete after the tests of a file, the last made first. */
export class Made {
  readonly #api: RestClient
  readonly #paths: string[] = []

  constructor(api: RestClient) {
    this.#api = api
    closing.push(async () => {
      for (const path of this.#paths.toReversed()) await api.call('DELETE', path)
    })
  }

  /** A record made at a collection, as it is shown with all its fields, and its UUID. */
  async record(collection: string, body: object, method = 'POST'): Promise<{ uuid: string; path: string }> {
    const reply = await this.#api.call(method, `${collection}?return_timeout=30`, body)
    if (reply.status !== 201) throw new Error(`${method} ${collection}: ${reply.status} ${reply.text}`)
    const name = (body as { readonly name: string }).name
    const uuid = await uuidOf(this.#api, collection, name)
    const path = `${collection}/${uuid}`
    this.#paths.push(path)
    return { uuid, path }
  }

  volume(svm: string, options: object = {}): Promise<{ uuid: string; path: string; name: string }> {
    const body = {
      name: fresh('vol'),
      svm: { name: svm },
      size: '64m',
      guarantee: { type: 'none' },
      // The snapshots of the hour are not to come while a test counts its own.
      snapshot_policy: { name: 'none' },
      ...options,
    }
    return this.record('/api/storage/volumes', body).then((made) => ({ ...made, name: body.name }))
  }

  async svm(): Promise<{ uuid: string; path: string; name: string }> {
    const name = fresh('svm')
    return { ...(await this.record('/api/svm/svms', { name })), name }
  }

  /** An SVM with an object store server, its root volume and one data volume. */
  async server() {
    const svm = await this.svm()
    const root = await this.volume(svm.name)
    const data = await this.volume(svm.name)
    const servers = `/api/svm/svms/${svm.uuid}/object-store/servers`
    const body = {
      name: fresh('s3').replaceAll('_', '-'),
      root_volume: { name: root.name },
      data_volumes: [{ name: data.name }],
      bucket_endpoint_style: 'path_style',
    }
    const server = await this.record(servers, body, 'PUT')
    return { svm, root, data, servers, body, server, buckets: `${server.path}/buckets` }
  }
}

export async function uuidOf(api: RestClient, collection: string, name: string): Promise<string> {
  const { body } = await api.get(`${collection}?fields=uuid&name=${encodeURIComponent(name)}`)
  const [found] = recordsOf(body)
  return asText(found?.['uuid'])
}

/** Polls a job until it has ended. */
export async function ended(api: RestClient, location: string): Promise<Body> {
  for (const fromMs = Date.now(); Date.now() - fromMs < 120_000; await wait(20)) {
    const { body } = await api.get(`${location}?fields=uuid,name,state,message,code,elapsed_time`)
    if (!['queued', 'running', 'paused'].includes(asText(body['state']))) return body
  }
  throw new Error(`The job at ${location} did not end.`)
}

/** The names of a record, sorted, without links. */
export function namesOf(record: Body | undefined): string[] {
  return Object.keys(record ?? {})
    .filter((name) => name !== '_links')
    .toSorted()
}

export function codeOf(reply: Reply): unknown {
  return reply.body['error']?.['code']
}
