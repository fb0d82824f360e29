/** A bucket of a test: short forms of the calls that tests are made of, and how all of it is removed again. */
import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { fails, succeeds, type Answer, type Connection, type Request } from './http.ts'
import { escaped, type Xml } from './xml.ts'
import { md5 } from './sums.ts'

export interface BucketOptions {
  readonly isVersioned?: boolean
  /** Switches versions on too. */
  readonly hasObjectLock?: boolean
}

export type Headers = Readonly<Record<string, string>>
type Body = string | Buffer

/** Longest wait for a lock to end. Tests lock for seconds. */
const LOCK_MS_MAX = 60_000

export class Bucket {
  readonly name: string
  readonly #connection: Connection

  constructor(name: string, connection: Connection) {
    this.name = name
    this.#connection = connection
  }

  /** At the bucket, or with `key` at one of its objects. */
  call(method: string, request: Request = {}): Promise<Answer> {
    return this.#connection.send(method, { bucket: this.name, ...request })
  }

  put(key: string | Buffer, body: Body = '', headers: Headers = {}, more: Request = {}): Promise<Answer> {
    return this.call('PUT', { key, body, headers, ...more })
  }

  /**
   * Stores an object, which must succeed, and gives its ETag as it was answered, in quotes. With Content-MD5, which
   * Amazon demands where objects are locked from the start.
   */
  async hold(key: string | Buffer, body: Body = '', headers: Headers = {}): Promise<string> {
    return (await succeeds(this.put(key, body, { 'content-md5': md5(body), ...headers }))).must('etag')
  }

  get(key: string | Buffer, headers: Headers = {}, query: Request['query'] = ''): Promise<Answer> {
    return this.call('GET', { key, headers, query })
  }

  head(key: string | Buffer, headers: Headers = {}, query: Request['query'] = ''): Promise<Answer> {
    return this.call('HEAD', { key, headers, query })
  }

  delete(key: string | Buffer, headers: Headers = {}, query: Request['query'] = ''): Promise<Answer> {
    return this.call('DELETE', { key, headers, query })
  }

  /** Copies from within the bucket, unless the source starts with `/`: then it is `/bucket/key`. */
  copy(source: string, key: string, headers: Headers = {}): Promise<Answer> {
    const from = source.startsWith('/') ? source : `/${this.name}/${source}`
    return this.call('PUT', { key, headers: { 'x-amz-copy-source': from, ...headers } })
  }

  /** A document of a configuration, with the Content-MD5 that old and new servers both take. */
  configure(subresource: string, document: string, headers: Headers = {}): Promise<Answer> {
    return this.call('PUT', {
      query: { [subresource]: '' },
      body: document,
      headers: { 'content-md5': md5(document), ...headers },
    })
  }

  /** The same for an object. */
  configureObject(key: string, query: Request['query'], document: string, headers: Headers = {}): Promise<Answer> {
    return this.call('PUT', {
      key,
      query: query ?? '',
      body: document,
      headers: { 'content-md5': md5(document), ...headers },
    })
  }

  read(subresource: string, key?: string): Promise<Answer> {
    return this.call('GET', { query: subresource, ...(key === undefined ? {} : { key }) })
  }

  async setVersioning(state: 'Enabled' | 'Suspended'): Promise<void> {
    const document = `<VersioningConfiguration><Status>${state}</Status></VersioningConfiguration>`
    await succeeds(this.configure('versioning', document))
  }

  list(query: Readonly<Record<string, string | number>> = {}): Promise<Answer> {
    return succeeds(this.call('GET', { query: { 'list-type': 2, ...query } }))
  }

  /** The keys that are there, in the order of the listing. */
  async keys(): Promise<string[]> {
    return (await this.list()).blocks('Contents').flatMap((one) => one.elements('Key'))
  }

  versions(query: Readonly<Record<string, string | number>> = {}): Promise<Answer> {
    return succeeds(this.call('GET', { query: { versions: '', ...query } }))
  }

  deleteMany(objects: readonly string[], headers: Headers = {}, isQuiet = false): Promise<Answer> {
    const document =
      `<Delete>${isQuiet ? '<Quiet>true</Quiet>' : ''}` +
      `${objects.map((object) => `<Object>${object}</Object>`).join('')}</Delete>`
    return this.call('POST', { query: 'delete', body: document, headers: { 'content-md5': md5(document), ...headers } })
  }

  /** Begins a multipart upload and gives its id. */
  async begin(key: string, headers: Headers = {}): Promise<string> {
    const begun = await succeeds(this.call('POST', { key, query: 'uploads', headers }))
    const id = begun.element('UploadId')
    assert.ok(id !== undefined && id !== '', begun.text)
    return id
  }

  uploadPart(key: string, uploadId: string, number: number, body: Body, headers: Headers = {}): Promise<Answer> {
    return this.call('PUT', { key, query: { partNumber: number, uploadId }, body, headers })
  }

  /** Uploads a part, which must succeed, and gives what CompleteMultipartUpload says of it. */
  async part(key: string, uploadId: string, number: number, body: Body, headers: Headers = {}): Promise<Part> {
    const { headers: answered } = await succeeds(this.uploadPart(key, uploadId, number, body, headers))
    return { number, etag: String(answered.etag) }
  }

  complete(key: string, uploadId: string, parts: readonly Part[], headers: Headers = {}): Promise<Answer> {
    const listed = parts.map(
      ({ number, etag, checksum = '' }) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>${escaped(etag)}</ETag>${checksum}</Part>`,
    )
    const body = `<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`
    return this.call('POST', { key, query: { uploadId }, body, headers })
  }

  /** All of it goes: uploads, versions, locks, the bucket. A bucket that is not there is gone already. */
  async remove(): Promise<void> {
    if ((await this.call('HEAD')).status === 404) return
    await this.call('DELETE', { query: 'policy' })
    for (const upload of (await succeeds(this.read('uploads'))).blocks('Upload')) {
      const [key = '', uploadId = ''] = [upload.element('Key'), upload.element('UploadId')]
      await succeeds(this.call('DELETE', { key, query: { uploadId } }), 204)
    }
    for (;;) {
      const listed = await this.versions({ 'encoding-type': 'url' })
      const found = [...listed.blocks('Version'), ...listed.blocks('DeleteMarker')]
      if (found.length === 0) break
      for (const version of await this.#removeAtOnce(found)) await this.#removeVersion(version)
    }
    await succeeds(this.call('DELETE'), 204)
    await fails(this.call('HEAD'), 404)
  }

  /** Removes all that one call can, and gives those that stay: locked ones, and those that XML cannot name. */
  async #removeAtOnce(versions: readonly Xml[]): Promise<Xml[]> {
    const named = versions.filter((version) => !/%[01]/.test(version.element('Key') ?? ''))
    if (named.length === 0) return [...versions]
    const objects = named.map(
      (version) => `<Key>${escaped(keyOf(version))}</Key><VersionId>${idOf(version)}</VersionId>`,
    )
    const answer = await this.deleteMany(objects, {}, true)
    if (answer.status !== 200) return [...versions]
    const stay = new Set(answer.blocks('Error').flatMap((error) => error.elements('VersionId')))
    return versions.filter((version) => !named.includes(version) || stay.has(idOf(version)))
  }

  async #removeVersion(version: Xml): Promise<void> {
    const key = Buffer.from(keyOf(version))
    const versionId = idOf(version)
    const remove = () => this.delete(key, { 'x-amz-bypass-governance-retention': 'true' }, { versionId })
    // Where there are no locks, some servers refuse to bypass them.
    if ((await this.delete(key, {}, { versionId })).status === 204 || (await remove()).status === 204) return
    const document = '<LegalHold><Status>OFF</Status></LegalHold>'
    const headers = { 'content-md5': md5(document) }
    await this.call('PUT', { key, query: { 'legal-hold': '', versionId }, body: document, headers })
    const untilMs = Date.now() + LOCK_MS_MAX
    while ((await remove()).status !== 204) {
      assert.ok(Date.now() < untilMs, `version ${versionId} of ${key.toString()} can be removed`)
      await wait(200)
    }
  }
}

function keyOf(version: Xml): string {
  return decodeURIComponent((version.element('Key') ?? '').replaceAll('+', ' '))
}

function idOf(version: Xml): string {
  return version.element('VersionId') ?? 'null'
}

export interface Part {
  readonly number: number
  readonly etag: string
  /** An element such as `<ChecksumCRC32>…</ChecksumCRC32>`. */
  readonly checksum?: string
}
