import { VolumesFailure, type Volumes } from '../ports/volumes.ts'

/** The same volumes, with no space for new blobs: as on a disk that is full. */
export function fullVolumes(volumes: Volumes): Volumes {
  return new Proxy(volumes, {
    get(target, name) {
      if (name === 'write') return () => Promise.reject(new VolumesFailure('no-space', 'A fault on demand.'))
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
