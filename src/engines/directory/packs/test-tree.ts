/** What tests of packs have in common: a folder with one tree, and engines over it. */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newBlob } from '../../../ports/volumes.suite.ts'
import { DirectoryVolumes } from '../volumes.ts'
import type { Packing } from '../volumes.ts'

export const LABEL = Buffer.from('{"key":"k"}')
export const ALL = { deadShare: 0.3, all: true }

export interface TestTree {
  /** Of the packs. */
  readonly folder: string
  readonly engine: (packing?: Packing) => DirectoryVolumes
}

export async function withTree(use: (tree: TestTree) => Promise<void>): Promise<void> {
  const aggregate = mkdtempSync(join(tmpdir(), 'packs-'))
  const engines: DirectoryVolumes[] = []
  const engine = (packing?: Packing) => {
    const made = new DirectoryVolumes(aggregate, undefined, packing)
    engines.push(made)
    return made
  }
  try {
    await engine().create('v1')
    await use({ folder: join(aggregate, 'volumes/v1/packs'), engine })
  } finally {
    for (const one of engines) await one.close()
    await rm(aggregate, { recursive: true })
  }
}

export async function store(
  volumes: DirectoryVolumes,
  bytes: Buffer,
  blob = newBlob(),
  label = LABEL,
): Promise<string> {
  const writer = await volumes.write('v1', blob, { sizeBytes: bytes.length, packs: true })
  await writer.write(bytes)
  return (await writer.commit(label)).blob
}

export const namesIn = async (volumes: DirectoryVolumes) => new Set(await Array.fromAsync(volumes.blobs('v1')))
