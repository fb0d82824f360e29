/** A data plane on free ports of this machine, over a catalog in memory and a temporary folder: what tests talk to. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import type { Agent, IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { S3Client } from '@aws-sdk/client-s3'
import type { S3ServiceException } from '@aws-sdk/client-s3'
// Tests choose the engines, as bin/ does: what runs here is what will run.
import { DirectoryVolumes } from '../engines/directory/volumes.ts'
import { openSqliteCatalog } from '../engines/sqlite/catalog.ts'
import { realSystem } from '../engines/system.ts'
import { CommitRefused } from '../ports/catalog.ts'
import type { Catalog, Change, FieldValue } from '../ports/catalog.ts'
import type { Volumes } from '../ports/volumes.ts'
import { sign } from './auth/sign.ts'
import type { BucketControl } from './exchange/call.ts'
import { closeBucket } from './objects/close-bucket.ts'
import { startDataPlane } from './server.ts'
import type { DataPlane, DataPlaneParts } from './server.ts'
import { accessKeyScope } from '../records/access-keys.ts'
import type { RecordType } from '../model/rows.ts'
import { bucketNameScope } from './tenancy/records.ts'
import { nameScope } from '../model/name-scope.ts'
import { textAt } from '../model/value.ts'

export const svm = '11111111-1111-4111-8111-111111111111'
export const volume = '22222222-2222-4222-8222-222222222222'
export const otherVolume = '33333333-3333-4333-8333-333333333333'
export const server = '44444444-4444-4444-8444-444444444444'
export const networkInterface = '55555555-5555-4555-8555-555555555555'
export const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }

/** A request as a client without an SDK makes it, signed unless told otherwise. */
export async function send(
  plane: Pick<TestPlane, 'url'>,
  method: string,
  target: string,
  options: {
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string | Buffer
    readonly isAnonymous?: boolean
    readonly hash?: string
    readonly agent?: Agent
  } = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
  const { host, hostname, port } = new URL(plane.url)
  const [rawPath = '', rawQuery = ''] = target.split('?')
  const given: Record<string, string> = { host, ...options.headers }
  if (options.body !== undefined) given['content-length'] = String(Buffer.byteLength(options.body))
  const identity = { accessKey: keys.accessKeyId, secret: keys.secretAccessKey, region: 'us-east-1' }
  const headers =
    options.isAnonymous === true
      ? given
      : sign({ method, rawPath, rawQuery, headers: given }, identity, new Date(), options.hash ?? 'UNSIGNED-PAYLOAD')
          .headers
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        hostname,
        port,
        method,
        path: target,
        headers,
        ...(options.agent === undefined ? {} : { agent: options.agent }),
      },
      (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(pieces).toString(),
          }),
        )
      },
    )
    request.on('error', reject)
    request.end(options.body)
  })
}

/** For `assert.rejects` of a call of the SDK. */
export function refused(code: string, status: number): (failure: S3ServiceException) => true {
  return (failure) => {
    assert.equal(failure.name, code)
    assert.equal(failure.$metadata.httpStatusCode, status)
    return true
  }
}

export const volumeBytes = 2 ** 30

export interface TestPlane {
  readonly catalog: Catalog
  readonly volumes: Volumes
  readonly plane: DataPlane
  readonly s3: S3Client
  readonly url: string
  readonly secureUrl: string
  readonly logged: { readonly level: string; readonly message: string; readonly details: unknown }[]
  client(credentials?: { accessKeyId: string; secretAccessKey: string }): S3Client
  put(type: RecordType, key: string, body: Readonly<Record<string, FieldValue>>, parent?: string): Promise<void>
  addUser(
    name: string,
    credentials: { accessKeyId: string; secretAccessKey: string },
    expiresMs?: number,
  ): Promise<void>
  addBucket(
    name: string,
    options?: { limitBytes?: number; volume?: string; statements?: readonly FieldValue[] },
  ): Promise<string>
  /** Names of all blobs on the disk. */
  blobs(): Promise<string[]>
  close(): Promise<void>
}

export async function startTestPlane(
  options: {
    readonly volumes?: Volumes
    readonly catalog?: (catalog: Catalog) => Catalog
    readonly system?: DataPlaneParts['system']
    readonly tls?: DataPlaneParts['tls']
    readonly ports?: { readonly http: number; readonly https: number }
    readonly waits?: NonNullable<DataPlaneParts['waits']>
    readonly connections?: NonNullable<DataPlaneParts['connections']>
    readonly onDamage?: NonNullable<DataPlaneParts['onDamage']>
    readonly memory?: NonNullable<DataPlaneParts['memory']>
  } = {},
): Promise<TestPlane> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-s3-'))
  const catalog = openSqliteCatalog({ file: join(folder, 'catalog.db'), commit: 'in-process' })
  const volumes = options.volumes ?? new DirectoryVolumes(join(folder, 'aggr1'))
  const system = options.system ?? realSystem
  const logged: { level: string; message: string; details: unknown }[] = []
  const log = (level: string) => (message: string, details?: unknown) => void logged.push({ level, message, details })

  const put: TestPlane['put'] = async (type, key, body, parent) => {
    const scope = textAt(body, 'svm.uuid')
    const unique = {
      [nameScope(type)]: `${scope}/${textAt(body, 'name')}`,
      ...(typeof body['access_key'] === 'string' ? { [accessKeyScope]: body['access_key'] } : {}),
    }
    await catalog.commit([{ do: 'put-record', type, key, body, parent: parent ?? scope, unique }])
  }
  const addUser: TestPlane['addUser'] = (name, { accessKeyId, secretAccessKey }, expiresMs) =>
    put('protocols/s3/services/{svm.uuid}/users', `${svm}/${name}`, {
      name,
      'svm.uuid': svm,
      access_key: accessKeyId,
      $secret: Buffer.from(secretAccessKey).toString('base64'),
      ...(expiresMs === undefined ? {} : { key_expiry_time: expiresMs }),
    })
  const addBucket: TestPlane['addBucket'] = async (name, made = {}) => {
    const uuid = system.random.uuid()
    const body = {
      uuid,
      name,
      'svm.uuid': svm,
      'server.uuid': server,
      'volume.uuid': made.volume ?? volume,
      'policy.name': 'default',
      ...(made.statements === undefined ? {} : { 'policy.statements': made.statements }),
      create_time: system.clock.now(),
    }
    const change: Change = {
      do: 'open-bucket',
      bucket: uuid,
      volume: made.volume ?? volume,
      limitBytes: made.limitBytes ?? 10 * 2 ** 40,
    }
    const unique = { [bucketNameScope]: `${svm}/${name}` }
    await catalog.commit([
      change,
      { do: 'put-record', type: 'protocols/s3/buckets', key: uuid, parent: volume, body, unique, expect: 'absent' },
    ])
    return uuid
  }
  const control: BucketControl = {
    async createBucket({ name, fields = {} }) {
      try {
        const bucket = await addBucket(name)
        await control.configureBucket({ bucket, fields, operation: 'CreateBucket', caller: { user: '', svm: '' } })
        return 'done'
      } catch (failure) {
        if (failure instanceof CommitRefused && failure.reason === 'taken') return 'exists'
        throw failure
      }
    },
    async configureBucket({ bucket, fields }) {
      const record = await catalog.record('protocols/s3/buckets', bucket)
      if (record === undefined) return 'missing'
      const { versioning_state: state = record.body['versioning_state'] ?? null } = fields
      const body = Object.fromEntries(
        Object.entries({ ...record.body, ...fields }).filter(([, value]) => value !== null),
      )
      await catalog.commit([
        ...(state === 'enabled' || state === 'suspended'
          ? [{ do: 'version-bucket', bucket, state } satisfies Change]
          : []),
        { do: 'put-record', type: 'protocols/s3/buckets', key: bucket, body },
      ])
      return 'done'
    },
    async versionBucket({ bucket, state }) {
      const record = await catalog.record('protocols/s3/buckets', bucket)
      if (record === undefined) return 'missing'
      const body = { ...record.body, versioning_state: state }
      await catalog.commit([
        { do: 'version-bucket', bucket, state },
        { do: 'put-record', type: 'protocols/s3/buckets', key: bucket, body },
      ])
      return 'done'
    },
    async deleteBucket({ bucket }) {
      try {
        await closeBucket({ catalog, prepare: (changes) => catalog.commit(changes) }, bucket, [
          { do: 'remove-record', type: 'protocols/s3/buckets', key: bucket },
        ])
        return 'done'
      } catch (failure) {
        if (failure instanceof CommitRefused && failure.reason === 'not-empty') return 'not-empty'
        throw failure
      }
    },
  }

  for (const one of [volume, otherVolume]) {
    await volumes.create(one)
    await catalog.commit([{ do: 'open-volume', volume: one, sizeBytes: volumeBytes }])
    await put('storage/volumes', one, {
      uuid: one,
      name: `vol${one.slice(0, 1)}`,
      'svm.uuid': svm,
      aggregates: [{ uuid: 'aggr1' }],
      state: 'online',
    })
  }
  await put('svm/svms', svm, { uuid: svm, name: 'svm1', state: 'running' }, '')
  await put('network/ip/interfaces', networkInterface, {
    uuid: networkInterface,
    name: 'lif1',
    'svm.uuid': svm,
    'ip.address': '127.0.0.1',
    enabled: true,
    scope: 'svm',
  })
  await put('protocols/s3/services', server, {
    uuid: server,
    name: 's3.example.com',
    'svm.uuid': svm,
    enabled: true,
    bucket_endpoint_style: 'virtual_hosted_style',
    'policy.name': 'default',
    is_http_enabled: true,
    is_https_enabled: true,
    port: 80,
    secure_port: 443,
  })
  await put('protocols/s3/services/{svm.uuid}/policies', `${svm}/FullAccess`, {
    name: 'FullAccess',
    'svm.uuid': svm,
    statements: [{ effect: 'allow', actions: ['*'], resources: ['*'] }],
  })
  await put('protocols/s3/services/{svm.uuid}/groups', `${svm}/1`, {
    id: 1,
    name: 'all',
    'svm.uuid': svm,
    users: [{ name: 'demo' }],
    policies: [{ name: 'FullAccess' }],
  })
  await addUser('demo', keys)

  const { http = 0, https = 0 } = options.ports ?? {}
  const plane = await startDataPlane({
    catalog: options.catalog?.(catalog) ?? catalog,
    system,
    volumesOf: () => Promise.resolve(volumes),
    unseal: (sealed) => Buffer.from(sealed, 'base64').toString(),
    control,
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    tls: options.tls ?? { key: '', cert: '' },
    ...(options.waits === undefined ? {} : { waits: options.waits }),
    ...(options.connections === undefined ? {} : { connections: options.connections }),
    ...(options.onDamage === undefined ? {} : { onDamage: options.onDamage }),
    ...(options.memory === undefined ? {} : { memory: options.memory }),
    listen: {
      canBindLowPorts: false,
      first: {
        interface: networkInterface,
        http: { host: '127.0.0.1', port: http },
        https: options.tls === undefined ? 'off' : { host: '127.0.0.1', port: https },
      },
    },
  })
  const address = (isSecure: boolean): string => {
    const found = plane.listeners().find((one) => one.isSecure === isSecure)
    return found === undefined ? '' : `${isSecure ? 'https' : 'http'}://127.0.0.1:${found.port}`
  }
  const clients: S3Client[] = []
  const client: TestPlane['client'] = (credentials = keys) => {
    const made = new S3Client({
      endpoint: address(false),
      region: 'us-east-1',
      credentials,
      forcePathStyle: true,
      maxAttempts: 1,
    })
    clients.push(made)
    return made
  }
  return {
    catalog,
    volumes,
    plane,
    s3: client(),
    url: address(false),
    secureUrl: address(true),
    logged,
    client,
    put,
    addUser,
    addBucket,
    async blobs() {
      const trees = await volumes.list()
      return (await Promise.all(trees.map((tree) => Array.fromAsync(volumes.blobs(tree))))).flat()
    },
    async close() {
      for (const one of clients) one.destroy()
      await plane.close(1000)
      await catalog.close()
      await volumes.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
