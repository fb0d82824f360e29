/** Volumes that hold no blobs: trees are names in a set. Enough for everything that the management interface does. */
import type { Volumes } from '../../src/ports/volumes.ts'
import { VolumesFailure } from '../../src/ports/volumes.ts'

export class MemoryVolumes implements Volumes {
  readonly trees = new Set<string>()
  sizeBytes = 2 ** 50

  create(volume: string): Promise<void> {
    this.trees.add(volume)
    return Promise.resolve()
  }

  remove(volume: string): Promise<void> {
    this.trees.delete(volume)
    return Promise.resolve()
  }

  list(): Promise<readonly string[]> {
    return Promise.resolve([...this.trees])
  }

  write(volume: string): Promise<never> {
    return Promise.reject(new VolumesFailure('io', `Volume ${volume} takes no blobs.`))
  }

  open(_volume: string, blob: string): Promise<never> {
    return Promise.reject(new VolumesFailure('missing', `Blob ${blob} is not there.`))
  }

  unlink(): Promise<void> {
    return Promise.resolve()
  }

  async *blobs(): AsyncGenerator<string> {
    // There are none.
  }

  space(): Promise<{ sizeBytes: number; usedBytes: number; availableBytes: number }> {
    return Promise.resolve({ sizeBytes: this.sizeBytes, usedBytes: 0, availableBytes: this.sizeBytes })
  }
}
