/** Snapshots: taken, renamed, deleted, and gone back to. */
import type { SimulatedRandom } from '../../../../src/engines/simulated/random.ts'
import { dropSnapshots, restore, takeSnapshot, type Model, type Snapshot, type Volume } from '../model.ts'
import { oneOf, refuse, volumePath, type Operation } from '../operation.ts'

const NAMES = ['hourly', 'daily', 'weekly', 'before', 'after', 'kept']

const take: Operation = {
  name: 'take snapshot',
  weight: 6,
  choose(model, random) {
    const volume = oneOf(random, [...model.volumes.values()])
    const name = oneOf(random, NAMES) ?? ''
    if (volume === undefined) return undefined
    return {
      says: `take snapshot ${name} of ${volume.name}`,
      act: async (world) => world.ask('POST', `${await volumePath(world, volume.name)}/snapshots`, { name }),
      mirror(model) {
        const of = model.volume(volume.name)
        if (!of.isOnline || of.snapshots.some((one) => one.name === name)) refuse('409')
        takeSnapshot(of, name)
      },
    }
  },
}

const remove: Operation = {
  name: 'delete snapshot',
  weight: 4,
  choose(model, random) {
    const chosen = someSnapshot(model, random)
    if (chosen === undefined) return undefined
    const { volume, name } = chosen
    return {
      says: `delete snapshot ${name} of ${volume}`,
      act: async (world) => world.ask('DELETE', `${await volumePath(world, volume)}/snapshots/${name}`),
      mirror(model) {
        const of = model.volume(volume)
        const snapshot = find(of, name)
        if (snapshot.owners.length > 0) refuse('409')
        dropSnapshots(of, [snapshot])
      },
    }
  },
}

const rename: Operation = {
  name: 'rename snapshot',
  weight: 1,
  choose(model, random) {
    const chosen = someSnapshot(model, random)
    const wanted = oneOf(random, NAMES) ?? ''
    if (chosen === undefined || chosen.name === wanted) return undefined
    const { volume, name } = chosen
    return {
      says: `rename snapshot ${name} of ${volume} to ${wanted}`,
      act: async (world) =>
        world.ask('PATCH', `${await volumePath(world, volume)}/snapshots/${name}`, { name: wanted }),
      mirror(model) {
        const of = model.volume(volume)
        if (of.snapshots.some((one) => one.name === wanted)) refuse('409')
        find(of, name).name = wanted
      },
    }
  },
}

const goBack: Operation = {
  name: 'restore volume',
  weight: 3,
  choose(model, random) {
    const chosen = someSnapshot(model, random)
    if (chosen === undefined) return undefined
    const { volume, name } = chosen
    return {
      says: `take ${volume} back to ${name}`,
      act: async (world) =>
        world.ask('PATCH', `${await volumePath(world, volume)}?restore_to.snapshot.name=${name}`, {}),
      mirror(model) {
        const of = model.volume(volume)
        const snapshot = find(of, name)
        const newer = of.snapshots.slice(of.snapshots.indexOf(snapshot) + 1)
        if (!of.isOnline || newer.some(({ owners }) => owners.length > 0)) refuse('409')
        restore(of, snapshot)
      },
    }
  },
}

export const snapshots: readonly Operation[] = [take, remove, rename, goBack]

export function someSnapshot(
  model: Model,
  random: SimulatedRandom,
): { readonly volume: string; readonly name: string } | undefined {
  const all = [...model.volumes.values()].flatMap((volume) =>
    volume.snapshots.flatMap(({ name }) => (name === undefined ? [] : [{ volume: volume.name, name }])),
  )
  return oneOf(random, all)
}

export function find(volume: Volume, name: string): Snapshot {
  return volume.snapshots.find((one) => one.name === name) ?? refuse('404')
}
