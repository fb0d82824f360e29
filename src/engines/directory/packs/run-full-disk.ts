/** A process for the test of full disks: fills the disk of a folder with small blobs, and makes room by unlinking some. */
import { randomBytes } from 'node:crypto'
import { VolumesFailure } from '../../../ports/volumes.ts'
import { DirectoryVolumes } from '../volumes.ts'

const aggregate = `${process.argv[2] ?? ''}/aggregate`
const first = new DirectoryVolumes(aggregate)
await first.create('v1')
const bodies = new Map<string, Buffer>()

/** Until the disk is full. */
async function fill(volumes: DirectoryVolumes): Promise<number> {
  for (let written = 0; ; written++) {
    try {
      const bytes = randomBytes(4096)
      const writer = await volumes.write('v1', '0'.repeat(32), { sizeBytes: bytes.length, packs: true })
      await writer.write(bytes)
      bodies.set((await writer.commit(Buffer.from('{}'))).blob, bytes)
    } catch (failure) {
      if (failure instanceof VolumesFailure && failure.reason === 'no-space') return written
      throw failure
    }
  }
}

const filled = await fill(first)
await first.close()
const second = new DirectoryVolumes(aggregate)
const reader = new DirectoryVolumes(aggregate)
for (const blob of bodies.keys()) await (await reader.open('v1', blob)).close()
// The last one is among them: the first step takes space, be it that of one record.
for (const [nth, blob] of [...bodies.keys()].toReversed().entries()) {
  if (nth % 2 === 1) continue
  await second.unlink('v1', blob)
  bodies.delete(blob)
}
const { freedBytes } = await second.compact('v1', { deadShare: 0.3, all: true })
const filledAgain = await fill(second)
let whole = 0
for (const volumes of [reader, second, new DirectoryVolumes(aggregate)]) {
  for (const [blob, bytes] of bodies) {
    const one = await volumes.open('v1', blob)
    if ((await one.read(0, one.sizeBytes)).equals(bytes)) whole++
  }
}
const listed = (await Array.fromAsync(second.blobs('v1'))).length
const result = { filled, freedBytes, filledAgain, whole, held: bodies.size, listed }
process.stdout.write(`${JSON.stringify(result)}\n`)
