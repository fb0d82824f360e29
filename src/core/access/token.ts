/**
 * API keys have the outer form of a JWT, because clients of the interface check that a bearer token has it. They are
 * not signed claims: the last part is 256 random bits, and the record of the key, found by `jti`, decides.
 *
 *     base64url({"typ":"JWT","alg":"none"}) . base64url({"sub":"admin","jti":"<uuid of the key>"}) . base64url(random)
 */
export function makeToken(uuid: string, user: string, random: Uint8Array): string {
  const part = (claims: Readonly<Record<string, string>>) => Buffer.from(JSON.stringify(claims)).toString('base64url')
  return [
    part({ typ: 'JWT', alg: 'none' }),
    part({ sub: user, jti: uuid }),
    Buffer.from(random).toString('base64url'),
  ].join('.')
}

const TOKEN_CHARACTERS_MAX = 4096

/** The uuid of the key that a token claims to be. */
export function uuidOfToken(token: string): string | undefined {
  const [, claims] = token.length <= TOKEN_CHARACTERS_MAX ? token.split('.', 3) : []
  if (claims === undefined) return undefined
  try {
    const { jti } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { jti?: unknown }
    return typeof jti === 'string' ? jti : undefined
  } catch {
    return undefined
  }
}
