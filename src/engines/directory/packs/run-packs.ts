/** A process for the test of kills: writes small blobs, many at a time, and tells of each that was answered. */
import { randomBytes } from 'node:crypto'
import { DirectoryVolumes } from '../volumes.ts'

const volumes = new DirectoryVolumes(process.argv[2] ?? '')

async function write(): Promise<void> {
  for (;;) {
    const mark = randomBytes(8).toString('hex')
    const bytes = Buffer.concat([Buffer.from(mark), randomBytes(3000)])
    const writer = await volumes.write('v1', mark.repeat(2), { sizeBytes: bytes.length, packs: true })
    await writer.write(bytes)
    const { blob } = await writer.commit(Buffer.from('{}'))
    process.send?.({ blob, crc: mark })
  }
}

await Promise.all(Array.from({ length: 16 }, write))
