/** Buckets: made, limited, given versions, deleted. */
import type { Bucket, Volume } from '../model.ts'
import { bucketBytes } from '../model.ts'
import { oneOf, refuse, type Deed, type Operation } from '../operation.ts'
import type { World } from '../world.ts'

const BUCKETS = '/protocols/s3/buckets'
const NAMES = ['papers', 'photos', 'logs', 'tapes', 'films', 'maps', 'notes', 'scans']
/** With so many there, further ones are rare: each has few keys to meet on. */
const USUAL = 4
const LIMITS = [200_000, 1_000_000, 2 ** 30, 2 ** 30]

const create: Operation = {
  name: 'create bucket',
  weight: 3,
  choose(model, random) {
    const name = oneOf(random, NAMES) ?? ''
    const volume = oneOf(
      random,
      [...model.volumes.values()].filter(({ isServed, isOnline }) => isServed && isOnline),
    )
    if (volume === undefined) return undefined
    if (model.buckets().length >= USUAL && random.chance(0.9)) return undefined
    const limitBytes = oneOf(random, LIMITS) ?? 0
    return {
      says: `create bucket ${name} in ${volume.name}`,
      act: (world) =>
        world.ask('POST', BUCKETS, {
          name,
          'svm.name': 'svm1',
          'volume.name': volume.name,
          size: limitBytes,
        }),
      mirror(model) {
        if (model.buckets().some(({ bucket }) => bucket.name === name)) refuse('409')
        const made = { identity: {}, rows: new Map(), uploads: [], cameWithClone: false }
        const bucket: Bucket = { ...made, name, limitBytes, versioning: 'off' }
        model.volume(volume.name).buckets.set(name, bucket)
      },
    }
  },
}

/** Open uploads go with it; objects keep it. */
const remove: Operation = {
  name: 'delete bucket',
  weight: 2,
  choose(model, random) {
    const empty = model.buckets().filter(({ bucket }) => bucket.rows.size === 0)
    const chosen = oneOf(random, random.chance(0.7) ? empty : model.buckets())
    if (chosen === undefined) return undefined
    return about(chosen, 'delete', {
      act: async (world) => world.ask('DELETE', await pathOf(world, chosen.bucket.name)),
      change(bucket, volume) {
        if (bucket.rows.size > 0) refuse('409')
        volume.buckets.delete(bucket.name)
      },
    })
  },
}

const limit: Operation = {
  name: 'limit bucket',
  weight: 2,
  choose(model, random) {
    const chosen = oneOf(random, model.buckets())
    const limitBytes = oneOf(random, LIMITS) ?? 0
    if (chosen === undefined) return undefined
    return about(chosen, `limit to ${limitBytes} bytes`, {
      act: async (world) => world.ask('PATCH', await pathOf(world, chosen.bucket.name), { size: limitBytes }),
      change(bucket) {
        if (limitBytes !== bucket.limitBytes && bucketBytes(bucket) > limitBytes) refuse('4')
        bucket.limitBytes = limitBytes
      },
    })
  },
}

/** Versions are enabled, or suspended; they are never off again. */
const version: Operation = {
  name: 'version bucket',
  weight: 3,
  choose(model, random) {
    const chosen = oneOf(random, model.buckets())
    const state = random.chance(0.6) ? 'enabled' : 'suspended'
    if (chosen === undefined || (chosen.bucket.versioning === 'off' && random.chance(0.5))) return undefined
    return about(chosen, `versions ${state}`, {
      act: async (world) => world.ask('PATCH', await pathOf(world, chosen.bucket.name), { versioning_state: state }),
      change(bucket) {
        if (bucket.versioning === 'off' && state === 'suspended') refuse('4')
        bucket.versioning = state
      },
    })
  },
}

export const buckets: readonly Operation[] = [create, remove, limit, version]

function about(
  { bucket: { name } }: { readonly bucket: Bucket },
  what: string,
  { act, change }: Pick<Deed, 'act'> & { readonly change: (bucket: Bucket, volume: Volume) => void },
): Deed {
  return {
    says: `${what} bucket ${name}`,
    act,
    mirror(model) {
      const { bucket, volume } = model.bucket(name)
      change(bucket, volume)
    },
  }
}

async function pathOf(world: World, name: string): Promise<string> {
  return `${BUCKETS}/${world.svm}/${await world.bucketUuid(name)}`
}
