import { syncFolder } from '../durable-file.ts'

interface Syncing {
  readonly running: Promise<void>
  /** One more run that begins after the current, for all who came meanwhile. */
  next?: Promise<void>
}

/**
 * Makes the entries of folders durable. A sync covers what was in the folder when it began, so those who ask while one
 * runs share the next, however many they are.
 */
export class FolderSync {
  readonly #syncing = new Map<string, Syncing>()

  sync(folder: string): Promise<void> {
    const current = this.#syncing.get(folder)
    if (current === undefined) return this.#start(folder)
    current.next ??= current.running.catch(() => {}).then(() => this.#start(folder))
    return current.next
  }

  #start(folder: string): Promise<void> {
    const syncing: Syncing = {
      running: syncFolder(folder).finally(() => {
        if (syncing.next === undefined) this.#syncing.delete(folder)
      }),
    }
    this.#syncing.set(folder, syncing)
    return syncing.running
  }
}
