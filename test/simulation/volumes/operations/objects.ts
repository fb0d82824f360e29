/** Objects: put, overwritten, copied, deleted, with and without versions. */
import assert from 'node:assert/strict'
import type { SimulatedRandom } from '../../../../src/engines/simulated/random.ts'
import { copyObject } from '../../../../src/s3/objects/copy.ts'
import { deleteObject } from '../../../../src/s3/objects/delete.ts'
import { putObject } from '../../../../src/s3/objects/put.ts'
import { arriving, CUT_OFF, growing, md5, plainDetails, refuseObjectEarly, someContent } from '../bodies.ts'
import { addRow, isObject, removeRow, sizeOf, type Bucket, type Model, type Row, type Volume } from '../model.ts'
import { oneOf, reachable, refuse, type Deed, type Operation } from '../operation.ts'
import type { Answer } from '../world.ts'

export const KEYS = ['a', 'a/', 'a/a', 'a/b', 'b', 'b//', 'c', 'k1', 'k2', 'ü', '\u{10ffff}']

/** Puts and overwrites; now and then only where there is no object. */
const put: Operation = {
  name: 'put',
  weight: 24,
  choose(model, random) {
    const place = oneOf(random, reachable(model))
    if (place === undefined) return undefined
    const { name } = place.bucket
    const key = oneOf(random, KEYS) ?? ''
    const content = someContent(random)
    const isNew = random.chance(0.1)
    return {
      says: `put ${name}/${key}, ${content.bytes.length} bytes${isNew ? ', if there is none' : ''}`,
      act: (world) =>
        world.s3(async (store) => {
          const draft = { body: () => arriving(content), sizeBytes: content.bytes.length, details: plainDetails }
          const condition = isNew ? { ifNoneMatch: ['*'] } : undefined
          const made = await putObject(store, await world.bucket(name), Buffer.from(key), {
            ...draft,
            locks: {},
            condition,
          })
          return { version: made.version }
        }),
      mirror(model, { version }) {
        const { bucket, volume } = model.bucket(name)
        const [current] = bucket.rows.get(key) ?? []
        if (isNew && isObject(current)) refuse('PreconditionFailed')
        refuseObjectEarly(volume, bucket, key, content.bytes.length)
        growing(volume, bucket, () => {
          addRow(bucket, key, { version, isMarker: false, etag: content.etag, blobs: content.blobs })
        })
      },
    }
  },
}

/** A client that goes away in the middle of its body. */
const putHalf: Operation = {
  name: 'put half',
  weight: 2,
  choose(model, random) {
    const place = oneOf(random, reachable(model))
    if (place === undefined) return undefined
    const { name } = place.bucket
    const key = oneOf(random, KEYS) ?? ''
    const content = someContent(random)
    return {
      says: `put ${name}/${key}, and go away`,
      act: (world) =>
        world.s3(async (store) => {
          const bucket = await world.bucket(name)
          const sizeBytes = content.bytes.length
          const body = () => arriving(content, true)
          try {
            const draft = { body, sizeBytes, details: plainDetails, locks: {}, condition: undefined }
            await putObject(store, bucket, Buffer.from(key), draft)
          } catch (failure) {
            if (failure instanceof Error && failure.message === CUT_OFF) return { refused: CUT_OFF }
            throw failure
          }
          return {}
        }),
      mirror(model) {
        const { bucket, volume } = model.bucket(name)
        refuseObjectEarly(volume, bucket, key, content.bytes.length)
        refuse(CUT_OFF)
      },
    }
  },
}

interface Source {
  /** Of the bucket, or of what a snapshot shows of it. */
  readonly name: string
  readonly volume: Volume
  readonly key: string
  readonly row: Row
  readonly isCurrent: boolean
}

function someSource(model: Model, random: SimulatedRandom): Source | undefined {
  const place = oneOf(random, reachable(model))
  if (place === undefined) return undefined
  const { bucket, volume } = place
  const snapshot = random.chance(0.3) ? oneOf(random, volume.snapshots) : undefined
  const rows = snapshot === undefined ? bucket.rows : snapshot.rows.get(bucket.identity)
  const name = snapshot === undefined ? bucket.name : `${bucket.name}-s3snap-${snapshot.name}`
  const [key, list = []] = oneOf(random, [...(rows ?? [])]) ?? []
  const row = random.chance(0.6) ? list[0] : oneOf(random, list)
  if (key === undefined || !isObject(row)) return undefined
  return { name, volume, key, row, isCurrent: row === list[0] }
}

/** Within a volume rows share blobs, also with those of a snapshot; between volumes bytes move. */
const copy: Operation = {
  name: 'copy',
  weight: 9,
  choose(model, random) {
    const source = someSource(model, random)
    const target = oneOf(random, reachable(model))
    if (source === undefined || target === undefined) return undefined
    const { row, isCurrent } = source
    if (!isCurrent && row.version === undefined) return undefined
    const name = target.bucket.name
    const key = oneOf(random, KEYS) ?? ''
    const isWithin = source.volume === target.volume
    return {
      says: `copy ${source.name}/${source.key}${isCurrent ? '' : ` of version ${row.version}`} to ${name}/${key}`,
      act: (world) =>
        world.s3(async (store) => {
          const made = await copyObject(store, {
            source: {
              bucket: await world.bucket(source.name),
              key: Buffer.from(source.key),
              version: isCurrent ? undefined : row.version,
            },
            target: { bucket: await world.bucket(name), key: Buffer.from(key) },
            details: () => Promise.resolve(plainDetails),
            locks: {},
            algorithm: undefined,
            condition: undefined,
          })
          return { version: made.version }
        }),
      mirror(model, { version }) {
        const { bucket, volume } = model.bucket(name)
        const { etag, blobs } = isWithin ? row : moved(row)
        if (!isWithin) refuseObjectEarly(volume, bucket, key, sizeOf(row.blobs))
        growing(volume, bucket, () => addRow(bucket, key, { version, isMarker: false, etag, blobs }))
      },
    }
  },
}

/** What has moved was put at once: it is one blob, however many it was before. */
function moved({ blobs }: Row): { readonly etag: string; readonly blobs: readonly { readonly bytes: Buffer }[] } {
  const bytes = Buffer.concat(blobs.map((blob) => blob.bytes))
  return { etag: md5([bytes]), blobs: bytes.length === 0 ? [] : [{ bytes }] }
}

/** Deletes a key: its object, or with versions under a marker. */
const remove: Operation = {
  name: 'delete',
  weight: 8,
  choose(model, random) {
    const place = oneOf(random, reachable(model))
    if (place === undefined) return undefined
    return deletion(place.bucket, oneOf(random, KEYS) ?? '', undefined)
  },
}

/** Deletes exactly one version, be it an object or a marker. */
const removeVersion: Operation = {
  name: 'delete version',
  weight: 6,
  choose(model, random) {
    const place = oneOf(random, reachable(model))
    const [key, rows] = oneOf(random, [...(place?.bucket.rows ?? [])]) ?? []
    const version = rows === undefined ? undefined : oneOf(random, rows)?.version
    if (place === undefined || key === undefined || version === undefined) return undefined
    return deletion(place.bucket, key, version)
  },
}

function deletion({ name }: Bucket, key: string, version: string | undefined): Deed {
  return {
    says: `delete ${name}/${key}${version === undefined ? '' : ` of version ${version}`}`,
    act: (world) =>
      world.s3(async (store): Promise<Answer> => {
        const bucket = await world.bucket(name)
        const order = { key: Buffer.from(key), version, condition: undefined, bypassGovernance: false }
        const outcome = await deleteObject(store, bucket, order)
        return version !== undefined || outcome.version === undefined ? {} : { version: outcome.version }
      }),
    mirror(model, answer) {
      const { bucket } = model.bucket(name)
      const rows = bucket.rows.get(key) ?? []
      if (version !== undefined) {
        const row = rows.find((one) => one.version === version)
        assert.ok(row, 'A version is deleted that the model does not have.')
        removeRow(bucket, key, row)
      } else if (bucket.versioning !== 'off') {
        addRow(bucket, key, { version: answer.version, isMarker: true, etag: '', blobs: [] })
      } else if (rows[0] !== undefined) {
        removeRow(bucket, key, rows[0])
      }
    },
  }
}

/** All versions of all keys, one after the other: a bucket that can be deleted. */
const empty: Operation = {
  name: 'empty bucket',
  weight: 2,
  choose(model, random) {
    const place = oneOf(random, reachable(model))
    if (place === undefined || place.bucket.rows.size === 0) return undefined
    const deeds = [...place.bucket.rows].flatMap(([key, rows]) =>
      rows.flatMap(({ version }) => (version === undefined ? [] : [deletion(place.bucket, key, version)])),
    )
    return {
      says: `empty bucket ${place.bucket.name}`,
      async act(world) {
        for (const deed of deeds) {
          const answer = await deed.act(world)
          if (answer.refused !== undefined) return answer
        }
        return {}
      },
      mirror(model) {
        for (const deed of deeds) deed.mirror(model, {})
      },
      stages: (model) =>
        deeds.map((_, at) => {
          const then = model.clone()
          for (const deed of deeds.slice(0, at)) deed.mirror(then, {})
          return then
        }),
    }
  },
}

export const objects: readonly Operation[] = [put, putHalf, copy, remove, removeVersion, empty]
