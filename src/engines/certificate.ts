/** The self-signed certificate of the management address and the data addresses: made at the first start, then kept. */
import { createPrivateKey, generateKeyPair, X509Certificate } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { syncFolder } from './durable-file.ts'
import { selfSigned } from './x509.ts'

const makePair = promisify(generateKeyPair)

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** Key or certificate are not as they must be. The message says what to do. */
export class CertificateFailure extends Error {}

const YEARS_VALID = 10
/** Clocks of clients may be behind. */
const HOUR_MS = 3_600_000
const KEY = 'server.key'
const CERTIFICATE = 'server.crt'

/**
 * Reads key and certificate, or makes both when neither is there: clients that trust the old ones notice, so `onMade` is
 * told. One without the other, or two that do not belong together, are a failure.
 */
export async function openCertificate(
  folder: string,
  nowMs: number,
  onMade: () => void = () => undefined,
): Promise<Certificate> {
  const [key, cert] = [await readText(join(folder, KEY)), await readText(join(folder, CERTIFICATE))]
  if (key !== undefined && cert !== undefined) return checked(folder, { key, cert })
  if (key !== undefined || cert !== undefined) {
    const missing = join(folder, key === undefined ? KEY : CERTIFICATE)
    throw new CertificateFailure(
      `The file ${missing} is missing. Put it back from a copy, or remove the folder ${folder} to have a new key and certificate made.`,
    )
  }
  const made = await makeCertificate(nowMs)
  await write(folder, made)
  onMade()
  return made
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new CertificateFailure(
      `The file ${file} cannot be read (${(failure as Error).message}). Make it readable, or put it back from a copy.`,
    )
  }
}

/** Damage is found here, and not by each client that connects. */
function checked(folder: string, certificate: Certificate): Certificate {
  try {
    const parsed = new X509Certificate(certificate.cert)
    const isOwn = parsed.subject === parsed.issuer
    if (isOwn && !parsed.verify(parsed.publicKey)) throw new Error('its signature is wrong')
    if (!parsed.checkPrivateKey(createPrivateKey(certificate.key))) throw new Error('it is of another key')
    return certificate
  } catch (failure) {
    throw new CertificateFailure(
      `The certificate ${join(folder, CERTIFICATE)} or its key is damaged (${(failure as Error).message}). ` +
        `Put both back from a copy, or remove the folder ${folder} to have new ones made.`,
    )
  }
}

async function makeCertificate(nowMs: number): Promise<Certificate> {
  const notAfter = new Date(nowMs)
  notAfter.setUTCFullYear(notAfter.getUTCFullYear() + YEARS_VALID)
  const { privateKey } = await makePair('ec', { namedCurve: 'P-256' })
  const cert = selfSigned({
    commonName: 'holdfast',
    privateKey,
    hash: 'sha256',
    notBeforeMs: nowMs - HOUR_MS,
    notAfterMs: notAfter.getTime(),
    isCa: true,
    keyUsage: ['digitalSignature', 'keyCertSign'],
    extendedKeyUsage: ['serverAuth'],
    alternatives: { dns: ['localhost', hostname()], ip: ['127.0.0.1', '::1'], email: [], uri: [] },
  })
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, cert }
}

/** Both at once: an interrupted start leaves no key without its certificate. */
async function write(folder: string, { key, cert }: Certificate): Promise<void> {
  const beside = `${folder}.new`
  await rm(beside, { recursive: true, force: true })
  await mkdir(beside, { recursive: true, mode: 0o700 })
  await writeFile(join(beside, KEY), key, 0o600)
  await writeFile(join(beside, CERTIFICATE), cert, 0o644)
  await syncFolder(beside)
  await rename(beside, folder)
  await syncFolder(dirname(folder))
}

async function writeFile(file: string, text: string, mode: number): Promise<void> {
  const handle = await open(file, 'wx', mode)
  try {
    await handle.chmod(mode)
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
