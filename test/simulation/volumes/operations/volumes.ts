/** Volumes: made, served, resized, taken offline and online, deleted. */
import { hasClones, removeVolume } from '../clones.ts'
import { usedBytes, type Model, type Volume } from '../model.ts'
import { oneOf, refuse, VOLUMES, volumePath, type Operation } from '../operation.ts'
import type { Answer, World } from '../world.ts'

const NAMES = ['alpha', 'beta', 'gamma', 'delta']
/** With so many there, further ones are rare. */
const USUAL = 3
export const AGGREGATES = ['aggr1', 'aggr2']
const SIZES = [2 ** 20, 2 ** 21, 2 ** 24, 2 ** 30]

const create: Operation = {
  name: 'create volume',
  follows: ['delete volume'],
  weight: 3,
  choose(model, random) {
    const name = oneOf(random, NAMES) ?? ''
    const aggregate = oneOf(random, AGGREGATES) ?? ''
    const sizeBytes = oneOf(random, SIZES) ?? 0
    if ((model.volumes.has(name) || model.volumes.size >= USUAL) && random.chance(0.9)) return undefined
    return {
      says: `create volume ${name} in ${aggregate}, ${sizeBytes} bytes`,
      act: (world) =>
        world.ask('POST', VOLUMES, {
          name,
          'svm.name': 'svm1',
          aggregates: [{ name: aggregate }],
          size: sizeBytes,
          'guarantee.type': 'none',
          'snapshot_policy.name': 'none',
        }),
      mirror(model) {
        if (model.volumes.has(name)) refuse('409')
        const place = { aggregate, tree: {}, base: undefined, inherited: new Set<never>() }
        const state = { isOnline: true, isServed: false, buckets: new Map(), snapshots: [], limbo: new Set<never>() }
        model.volumes.set(name, { name, ...place, sizeBytes, ...state })
      },
    }
  },
}

/** It becomes a data volume of the server, or is none any more: that of buckets stays one. */
const serve: Operation = {
  name: 'serve volume',
  weight: 4,
  choose(model, random) {
    const volume = oneOf(random, [...model.volumes.values()])
    if (volume === undefined || (volume.isServed && random.chance(0.8))) return undefined
    const { name } = volume
    const isServed = !volume.isServed
    const others = [...model.volumes.values()].filter((other) => other.isServed && other.name !== name)
    return {
      says: `${isServed ? 'serve' : 'no longer serve'} ${name}`,
      act: (world) => nameDataVolumes(world, isServed ? [...others, volume] : others),
      mirror(model) {
        const of = model.volume(name)
        if (!isServed && of.buckets.size > 0) refuse('409')
        of.isServed = isServed
      },
    }
  },
}

async function nameDataVolumes(world: World, volumes: readonly Volume[]): Promise<Answer> {
  return world.ask('PATCH', `/protocols/s3/services/${world.svm}`, {
    data_volumes: ['vol1', ...volumes.map((one) => one.name)].map((name) => ({ name })),
  })
}

/** Down to what it holds, snapshots and what is not reclaimed yet included. */
const resize: Operation = {
  name: 'resize volume',
  weight: 3,
  choose(model, random) {
    const sizeBytes = oneOf(random, SIZES) ?? 0
    return forOne(
      model,
      (volumes) => oneOf(random, volumes),
      `resize to ${sizeBytes}`,
      { size: sizeBytes },
      (volume) => {
        if (usedBytes(volume) > sizeBytes) refuse('4')
        volume.sizeBytes = sizeBytes
      },
    )
  },
}

const offline: Operation = {
  name: 'take volume offline',
  weight: 1,
  choose: (model, random) =>
    forOne(
      model,
      (volumes) => oneOf(random, volumes),
      'take offline',
      { state: 'offline' },
      (volume) => {
        volume.isOnline = false
      },
    ),
}

const online: Operation = {
  name: 'take volume online',
  weight: 3,
  choose: (model, random) =>
    forOne(
      model,
      (volumes) => oneOf(random, offlineFirst(volumes)),
      'take online',
      { state: 'online' },
      (volume) => {
        volume.isOnline = true
      },
    ),
}

function offlineFirst(volumes: readonly Volume[]): readonly Volume[] {
  const away = volumes.filter(({ isOnline }) => !isOnline)
  return away.length > 0 ? away : volumes
}

const remove: Operation = {
  name: 'delete volume',
  weight: 3,
  choose(model, random) {
    const all = [...model.volumes.values()]
    const volume = oneOf(random, random.chance(0.5) ? all.filter(({ base }) => base !== undefined) : all)
    if (volume === undefined || (volume.isServed && random.chance(0.9))) return undefined
    return {
      says: `delete volume ${volume.name}`,
      act: async (world) => world.ask('DELETE', `${await volumePath(world, volume.name)}?force=true`),
      mirror(model) {
        const of = model.volume(volume.name)
        const isUsed = of.isServed || [...of.buckets.values()].some(({ cameWithClone }) => !cameWithClone)
        if (isUsed || hasClones(of)) refuse('409')
        removeVolume(model, of)
      },
    }
  },
}

export const volumes: readonly Operation[] = [create, serve, resize, offline, online, remove]

function forOne(
  model: Model,
  choose: (volumes: readonly Volume[]) => Volume | undefined,
  what: string,
  body: object,
  change: (volume: Volume) => void,
) {
  const volume = choose([...model.volumes.values()])
  if (volume === undefined) return undefined
  return {
    says: `${what} volume ${volume.name}`,
    act: async (world: World) => world.ask('PATCH', await volumePath(world, volume.name), body),
    mirror: (model: Model) => change(model.volume(volume.name)),
  }
}
