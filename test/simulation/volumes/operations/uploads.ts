/** Uploads in parts: begun, their parts that arrive, completed and aborted. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { SimulatedRandom } from '../../../../src/engines/simulated/random.ts'
import { completeUpload } from '../../../../src/s3/objects/complete.ts'
import { partBytesMin } from '../../../../src/s3/objects/limits.ts'
import { putPart } from '../../../../src/s3/objects/parts.ts'
import type { ObjectStore, OpenBucket } from '../../../../src/s3/objects/store.ts'
import { abortUpload, createUpload, openUpload } from '../../../../src/s3/objects/uploads.ts'
import { arriving, contentOf, growing, plainDetails, refuseEarly, someContent } from '../bodies.ts'
import { addRow, sizeOf, type Bucket, type Model, type Upload } from '../model.ts'
import { oneOf, reachable, refuse, type Deed, type Operation } from '../operation.ts'
import type { Answer, World } from '../world.ts'
import { KEYS } from './objects.ts'

/** Parts but the last are large, so an upload of several is rare. */
const LARGE_PARTS = 0.08
const PARTS_MAX = 3
const UPLOADS_MAX = 3

const begin: Operation = {
  name: 'begin upload',
  weight: 3,
  choose(model, random) {
    const place = oneOf(random, reachable(model))
    if (place === undefined || place.bucket.uploads.length >= UPLOADS_MAX) return undefined
    const { name } = place.bucket
    const key = oneOf(random, KEYS) ?? ''
    return {
      says: `begin an upload to ${name}/${key}`,
      act: (world) =>
        world.s3(async (store) => {
          const made = await createUpload(store, await world.bucket(name), {
            key: Buffer.from(key),
            details: plainDetails,
            locks: {},
            algorithm: 'CRC64NVME',
            type: 'FULL_OBJECT',
            isAlgorithmChosen: false,
          })
          return { upload: made.id }
        }),
      mirror(model, { upload }) {
        model.bucket(name).bucket.uploads.push({ key, told: { id: upload }, parts: new Map() })
      },
    }
  },
}

/** A part arrives, be it for the second time. */
const part: Operation = {
  name: 'put part',
  weight: 6,
  follows: ['begin upload'],
  choose(model, random) {
    const number = 1 + random.below(PARTS_MAX)
    return forUpload(model, random, (name, { key, told }) => {
      const content = random.chance(LARGE_PARTS) ? contentOf(random, partBytesMin) : someContent(random)
      return {
        says: `put part ${number} of an upload to ${name}/${key}, ${content.bytes.length} bytes`,
        act: (world) =>
          inUpload(world, name, told, async (store, bucket, id) => {
            const upload = await openUpload(store, bucket, Buffer.from(key), id)
            const body = () => arriving(content)
            await putPart(store, bucket, upload, number, { sizeBytes: content.bytes.length, body })
            return {}
          }),
        mirror(model) {
          const { volume, bucket } = model.bucket(name)
          const { parts } = uploadIn(bucket, told)
          refuseEarly(volume, bucket, content.bytes.length, sizeOf(parts.get(number)?.blobs ?? []))
          growing(volume, bucket, () => parts.set(number, { etag: content.etag, blobs: content.blobs }))
        },
      }
    })
  },
}

/** All parts up to a number, the others are let go. */
const complete: Operation = {
  name: 'complete upload',
  weight: 4,
  follows: ['begin upload', 'put part'],
  choose(model, random) {
    const last = 1 + random.below(PARTS_MAX)
    return forUpload(model, random, (name, { key, told, parts }) => {
      const chosen = [...parts].filter(([number]) => number <= last).toSorted(([a], [b]) => a - b)
      if (chosen.length === 0) return undefined
      return {
        says: `complete an upload to ${name}/${key} of parts ${chosen.map(([number]) => number).join()}`,
        act: (world) =>
          inUpload(world, name, told, async (store, bucket, upload) => {
            const named = chosen.map(([number, { etag }]) => ({ number, etag, checksum: undefined }))
            const expected = { sizeBytes: undefined, type: undefined, checksum: undefined }
            const order = { upload, parts: named, expected, condition: undefined }
            const made = await completeUpload(store, bucket, Buffer.from(key), order)
            return { version: made.version }
          }),
        mirror(model, { version }) {
          const { bucket } = model.bucket(name)
          const sizes = chosen.map(([, { blobs }]) => sizeOf(blobs))
          if (sizes.slice(0, -1).some((size) => size < partBytesMin)) refuse('EntityTooSmall')
          bucket.uploads = bucket.uploads.filter((upload) => upload.told !== told)
          const etag = etagOf(chosen.map(([, made]) => made.etag))
          addRow(bucket, key, { version, isMarker: false, etag, blobs: chosen.flatMap(([, made]) => made.blobs) })
        },
      }
    })
  },
}

const abort: Operation = {
  name: 'abort upload',
  weight: 1,
  follows: ['begin upload'],
  choose: (model, random) =>
    forUpload(model, random, (name, { key, told }) => ({
      says: `abort an upload to ${name}/${key}`,
      act: (world) =>
        inUpload(world, name, told, async (store, bucket, id) => {
          await abortUpload(store, bucket, Buffer.from(key), id)
          return {}
        }),
      mirror(model) {
        const { bucket } = model.bucket(name)
        bucket.uploads = bucket.uploads.filter((upload) => upload.told !== told)
      },
    })),
}

export const uploads: readonly Operation[] = [begin, part, complete, abort]

function forUpload(
  model: Model,
  random: SimulatedRandom,
  deed: (bucket: string, upload: Upload) => Deed | undefined,
): Deed | undefined {
  const open = reachable(model).flatMap(({ bucket }) => bucket.uploads.map((upload) => ({ bucket, upload })))
  const chosen = oneOf(random, open)
  return chosen === undefined ? undefined : deed(chosen.bucket.name, chosen.upload)
}

function inUpload(
  world: World,
  name: string,
  { id }: Upload['told'],
  act: (store: ObjectStore, bucket: OpenBucket, id: string) => Promise<Answer>,
): Promise<Answer> {
  assert.ok(id !== undefined, 'An upload is still unknown.')
  return world.s3(async (store) => act(store, await world.bucket(name), id))
}

function uploadIn({ uploads }: Bucket, told: Upload['told']): Upload {
  const upload = uploads.find((one) => one.told === told)
  assert.ok(upload, 'The model has no such upload.')
  return upload
}

function etagOf(etags: readonly string[]): string {
  const hash = createHash('md5')
  for (const etag of etags) hash.update(etag, 'hex')
  return `${hash.digest('hex')}-${etags.length}`
}
