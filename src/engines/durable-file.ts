/** Small files that must be whole after a crash: written beside their place, synced, then renamed into it. */
import { close, fsync, open as openFile } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The file has the old text or the new one, whatever happens. Durable on return. Its mode is the one given, also where it was another. */
export async function writeDurably(file: string, text: string | Uint8Array, mode: number): Promise<void> {
  const handle = await open(`${file}.new`, 'w', mode)
  try {
    await handle.chmod(mode)
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${file}.new`, file)
  await syncFolder(dirname(file))
}

/** Makes the entries of a folder durable. By its bare descriptor, which costs half of what a FileHandle does. */
export async function syncFolder(folder: string): Promise<void> {
  const descriptor = await new Promise<number>((resolve, reject) => {
    openFile(folder, 'r', (failure, opened) => (failure ? reject(failure) : resolve(opened)))
  })
  try {
    await new Promise<void>((resolve, reject) => {
      fsync(descriptor, (failure) => (failure ? reject(failure) : resolve()))
    })
  } finally {
    await new Promise<void>((resolve) => {
      close(descriptor, () => resolve())
    })
  }
}
