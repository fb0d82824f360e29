/** Clones: made of what a volume has, or had in a snapshot, and split from it. And volumes that move to another disk. */
import { cloneVolume, moveVolume, splitVolume } from '../clones.ts'
import { usedBytes } from '../model.ts'
import { oneOf, refuse, VOLUMES, volumePath, type Operation } from '../operation.ts'
import { find, someSnapshot } from './snapshots.ts'
import { AGGREGATES } from './volumes.ts'

const NAMES = ['copy_1', 'Twin']

const clone: Operation = {
  name: 'clone volume',
  weight: 4,
  follows: ['take volume online', 'delete volume', 'create volume'],
  choose(model, random) {
    const free = NAMES.filter((each) => !model.volumes.has(each))
    const name = oneOf(random, random.chance(0.95) ? free : NAMES)
    const snapshot = random.chance(0.5) ? someSnapshot(model, random) : undefined
    const parent = snapshot?.volume ?? oneOf(random, [...model.volumes.keys()])
    if (name === undefined || parent === undefined) return undefined
    const sizeBytes = random.chance(0.2) ? 2 ** 20 : undefined
    return {
      says: `clone ${parent}${snapshot === undefined ? '' : ` as in ${snapshot.name}`} to ${name}, ${sizeBytes ?? 'usual'} bytes`,
      act: (world) =>
        world.ask('POST', VOLUMES, {
          name,
          'svm.name': 'svm1',
          'clone.is_flexclone': true,
          'clone.parent_volume.name': parent,
          ...(snapshot === undefined ? {} : { 'clone.parent_snapshot.name': snapshot.name }),
          ...(sizeBytes === undefined ? {} : { size: sizeBytes }),
        }),
      mirror(model) {
        const of = model.volume(parent)
        if (model.volumes.has(name) || !of.isOnline) refuse('409')
        const made = cloneVolume(model, of, name, snapshot === undefined ? undefined : find(of, snapshot.name))
        made.sizeBytes = sizeBytes ?? of.sizeBytes
        if (usedBytes(made) > made.sizeBytes) refuse('4')
      },
    }
  },
}

const split: Operation = {
  name: 'split clone',
  weight: 2,
  follows: ['take volume online', 'delete volume', 'create volume', 'clone volume'],
  choose(model, random) {
    const clones = [...model.volumes.values()].filter(({ base }) => base !== undefined)
    const volume = oneOf(random, random.chance(0.9) ? clones : [...model.volumes.values()])
    if (volume === undefined) return undefined
    return {
      says: `split ${volume.name}`,
      act: async (world) => world.ask('PATCH', await volumePath(world, volume.name), { 'clone.split_initiated': true }),
      mirror(model) {
        const of = model.volume(volume.name)
        if (of.base === undefined) refuse('4')
        splitVolume(model, of)
      },
    }
  },
}

const move: Operation = {
  name: 'move volume',
  weight: 3,
  choose(model, random) {
    const volume = oneOf(random, [...model.volumes.values()])
    if (volume === undefined) return undefined
    const others = AGGREGATES.filter((aggregate) => aggregate !== volume.aggregate)
    const to = oneOf(random, random.chance(0.95) ? others : AGGREGATES) ?? ''
    return {
      says: `move ${volume.name} to ${to}`,
      failsWith: /The disk of the aggregate is full/,
      act: async (world) =>
        world.ask('PATCH', await volumePath(world, volume.name), { 'movement.destination_aggregate.name': to }),
      mirror(model) {
        const of = model.volume(volume.name)
        if (of.aggregate === to) refuse('4')
        moveVolume(model, of, to)
      },
    }
  },
}

export const clones: readonly Operation[] = [clone, split, move]
