/** Calls of the file system by descriptor. Those with callbacks cost much less than those of a FileHandle. */
import * as fs from 'node:fs'

export function openRaw(path: string, flags: string): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.open(path, flags, 0o600, (failure, fd) => (failure === null ? resolve(fd) : reject(failure)))
  })
}

/** It was synced, if it was to be: what closing fails with is nothing that anybody could do something about. */
export function closeRaw(fd: number): void {
  fs.close(fd, () => undefined)
}

/** Reads until the buffer is full or the file ends. Gives the bytes read. */
export function readRaw(fd: number, buffer: Buffer, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const readFrom = (filled: number): void => {
      fs.read(fd, buffer, filled, buffer.length - filled, position + filled, (failure, bytes) => {
        if (failure !== null) reject(failure)
        else if (bytes === 0 || filled + bytes === buffer.length) resolve(filled + bytes)
        else readFrom(filled + bytes)
      })
    }
    readFrom(0)
  })
}

/** The file system may take fewer bytes than it was given; it is given the others again. */
export function writeRaw(fd: number, buffers: readonly Uint8Array[], position: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const writeFrom = (rest: readonly Uint8Array[], at: number): void => {
      fs.writev(fd, rest, at, (failure, bytes) => {
        if (failure !== null) return reject(failure)
        const left = behind(rest, bytes)
        if (left.length === 0) resolve()
        else writeFrom(left, at + bytes)
      })
    }
    writeFrom(buffers, position)
  })
}

export function datasyncRaw(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fs.fdatasync(fd, (failure) => (failure === null ? resolve() : reject(failure)))
  })
}

export function truncateRaw(fd: number, bytes: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fs.ftruncate(fd, bytes, (failure) => (failure === null ? resolve() : reject(failure)))
  })
}

export function statRaw(fd: number): Promise<fs.Stats> {
  return new Promise((resolve, reject) => {
    fs.fstat(fd, (failure, stats) => (failure === null ? resolve(stats) : reject(failure)))
  })
}

function behind(buffers: readonly Uint8Array[], bytes: number): Uint8Array[] {
  const rest: Uint8Array[] = []
  let skip = bytes
  for (const buffer of buffers) {
    if (skip < buffer.length) rest.push(buffer.subarray(skip))
    skip = Math.max(0, skip - buffer.length)
  }
  return rest
}
