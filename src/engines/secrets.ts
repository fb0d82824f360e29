/** Keeps secrets under the cluster key: a file of 32 random bytes in the data folder, made at the first start. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { link, open, readFile, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SALT_BYTES = 16
/** N of scrypt: about 50 ms and 16 MiB for one check. */
const SCRYPT_COST = 16_384

export class KeyFileSecrets {
  readonly #key: Buffer

  constructor(key: Buffer) {
    if (key.length !== KEY_BYTES) throw new Error(`The cluster key has ${key.length} bytes; it must have ${KEY_BYTES}.`)
    this.#key = key
  }

  /** AES-256-GCM: nonce, ciphertext and tag, as base64. */
  seal(secret: string): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce)
    return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64')
  }

  unseal(sealed: string): string {
    const bytes = Buffer.from(sealed, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES))
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8')
  }

  async hashPassword(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES)
    return `scrypt:${SCRYPT_COST}:${salt.toString('base64')}:${(await stretch(password, salt, SCRYPT_COST)).toString('base64')}`
  }

  async checkPassword(password: string, hash: string): Promise<boolean> {
    const [, cost = '', salt = '', expected = ''] = hash.split(':')
    const given = await stretch(password, Buffer.from(salt, 'base64'), Number(cost))
    const wanted = Buffer.from(expected, 'base64')
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  }

  digest(secret: string): string {
    return createHmac('sha256', this.#key).update(secret).digest('base64')
  }

  isEqual(a: string, b: string): boolean {
    const [left, right] = [Buffer.from(a), Buffer.from(b)]
    return left.length === right.length && timingSafeEqual(left, right)
  }
}

function stretch(password: string, salt: Buffer, cost: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, 32, { N: cost }, (failure, key) => (failure === null ? resolve(key) : reject(failure)))
  })
}

/** Reads the cluster key, or makes it: readable by its owner only, whole and on disk before it has its name. */
export async function openSecrets(file: string): Promise<KeyFileSecrets> {
  const known = await readIfThere(file)
  if (known !== undefined) return new KeyFileSecrets(known)
  const made = `${file}.${randomBytes(8).toString('hex')}`
  const handle = await open(made, 'wx', 0o600)
  try {
    await handle.writeFile(randomBytes(KEY_BYTES))
    await handle.sync()
  } finally {
    await handle.close()
  }
  try {
    await link(made, file)
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code !== 'EEXIST') throw failure
  } finally {
    await unlink(made)
  }
  await syncFolder(dirname(file))
  return new KeyFileSecrets(await readFile(file))
}

async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file)
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw failure
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
