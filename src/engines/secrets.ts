/** Keeps secrets under the cluster key: a file of 32 random bytes in the data folder, made at the first start. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  scrypt,
  timingSafeEqual,
} from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { writeDurably } from './durable-file.ts'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SALT_BYTES = 16
const HASH_BYTES = 32
/** N of scrypt: about 50 ms and 16 MiB for one check. */
const SCRYPT_COST = 16_384

export class KeyFileSecrets {
  /** A `KeyObject`: with a `Buffer`, a digest takes six times as long, and each request asks for one. */
  readonly #key: KeyObject

  constructor(key: Buffer) {
    if (key.length !== KEY_BYTES) throw new Error(`The cluster key has ${key.length} bytes; it must have ${KEY_BYTES}.`)
    this.#key = createSecretKey(key)
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
    return printed(salt, await stretch(password, salt, SCRYPT_COST))
  }

  decoyHash(): string {
    return printed(randomBytes(SALT_BYTES), randomBytes(HASH_BYTES))
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

function printed(salt: Buffer, hash: Buffer): string {
  return `scrypt:${SCRYPT_COST}:${salt.toString('base64')}:${hash.toString('base64')}`
}

function stretch(password: string, salt: Buffer, cost: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, { N: cost }, (failure, key) =>
      failure === null ? resolve(key) : reject(failure),
    )
  })
}

/** The key file is not as it must be. The message says what to do. */
export class KeyFileFailure extends Error {}

/** Reads the cluster key. Nothing when there is none. */
export async function readSecrets(file: string): Promise<KeyFileSecrets | undefined> {
  let key: Buffer
  try {
    key = await readFile(file)
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new KeyFileFailure(
      `The cluster key ${file} cannot be read (${(failure as Error).message}). Make it readable, or put it back from a copy.`,
    )
  }
  if (key.length !== KEY_BYTES) {
    throw new KeyFileFailure(
      `The cluster key ${file} is damaged: it has ${key.length} bytes instead of ${KEY_BYTES}. Put it back from a copy.`,
    )
  }
  return new KeyFileSecrets(key)
}

/** Reads the cluster key of a cluster that has one. */
export async function openSecrets(file: string): Promise<KeyFileSecrets> {
  const secrets = await readSecrets(file)
  if (secrets !== undefined) return secrets
  throw new KeyFileFailure(
    `The cluster key ${file} is missing. Without it the secrets in the catalog cannot be read: put it back from a copy.`,
  )
}

/** Makes the key of a new cluster: readable by its owner only, whole and on disk before it has its name. */
export async function makeSecrets(file: string): Promise<KeyFileSecrets> {
  await writeDurably(file, randomBytes(KEY_BYTES), 0o600)
  return openSecrets(file)
}
