/** The self-signed certificate of the management address and the data addresses: made at the first start, then kept. */
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

export interface Certificate {
  readonly key: string
  readonly cert: string
}

const YEARS_VALID = 10

export async function openCertificate(folder: string, nowMs: number): Promise<Certificate> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const files = { key: join(folder, 'server.key'), cert: join(folder, 'server.crt') }
  try {
    return { key: await readFile(files.key, 'utf8'), cert: await readFile(files.cert, 'utf8') }
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code !== 'ENOENT') throw failure
  }
  const notAfter = new Date(nowMs)
  notAfter.setUTCFullYear(notAfter.getUTCFullYear() + YEARS_VALID)
  // Loading it takes a fifth of a start.
  const { generate } = await import('selfsigned')
  const made = await generate([{ name: 'commonName', value: 'holdfast' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(nowMs - 3600_000),
    notAfterDate: notAfter,
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 2, value: hostname() },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  })
  // The certificate last: where it is, the key is too.
  await write(files.key, made.private, 0o600)
  await write(files.cert, made.cert, 0o644)
  return { key: made.private, cert: made.cert }
}

async function write(file: string, text: string, mode: number): Promise<void> {
  const handle = await open(`${file}.new`, 'w', mode)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${file}.new`, file)
}
