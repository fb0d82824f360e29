/**
 * What a start prints when the cluster is ready: addresses, where the first credentials are, commands to paste. Secrets
 * that were given are never printed. What was made up is shown on a terminal; elsewhere output is kept by somebody, so it
 * goes to a file that only its owner can read.
 */
import { resolve } from 'node:path'
import { writeDurably } from '../src/engines/durable-file.ts'

export interface Announcement {
  readonly management: string
  readonly s3: string | undefined
  readonly s3Http: string | undefined
  readonly dataFolder: string
  readonly readyMs: number
  readonly release: string
  readonly isFirst: boolean
  /** Made up by this start. */
  readonly made: Secrets
  /** Where those are, unless they are to be shown. */
  readonly secretsFile: string | undefined
}

/** By the names of the environment variables that give them. */
export type Secrets = Readonly<
  Partial<Record<'HOLDFAST_ADMIN_PASSWORD' | 'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY', string>>
>

const LABELS: Readonly<Record<keyof Secrets, string>> = {
  HOLDFAST_ADMIN_PASSWORD: 'Password',
  AWS_ACCESS_KEY_ID: 'Access key',
  AWS_SECRET_ACCESS_KEY: 'Secret key',
}

/** Writes secrets as a script for the shell, with remarks. Tells the path. Durable on return, readable by its owner alone. */
export async function keepSecrets(file: string, secrets: Secrets, remarks: readonly string[]): Promise<string> {
  const lines = [
    ...Object.entries(secrets).map(([name, value]) => `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'`),
    ...remarks.map((remark) => `# ${remark}`),
  ]
  await writeDurably(file, `${lines.join('\n')}\n`, 0o600)
  return resolve(file)
}

export function announce(ready: Announcement, hasColour: boolean): string {
  const paint = (code: number, text: string) => (hasColour ? `\u001B[${code}m${text}\u001B[0m` : text)
  const label = (text: string) => paint(2, text.padEnd(16))
  const { made, secretsFile } = ready
  const lines = [
    '',
    paint(1, `Holdfast is ready`) + paint(2, ` (release ${ready.release}, ${(ready.readyMs / 1000).toFixed(1)} s)`),
    '',
    `  ${label('Management')}${paint(36, ready.management)}`,
    ...(ready.s3 === undefined ? [] : [`  ${label('S3')}${paint(36, ready.s3)}`]),
    ...(ready.s3Http === undefined ? [] : [`  ${label('S3 without TLS')}${paint(36, ready.s3Http)}`]),
    `  ${label('Data')}${ready.dataFolder}`,
    '',
  ]
  if (secretsFile !== undefined) {
    lines.push(`  ${label('Credentials')}${secretsFile}`, '')
  } else if (Object.keys(made).length > 0) {
    lines.push('  First credentials. They are shown this once:', '', `  ${label('User')}admin`)
    for (const [name, text] of Object.entries(LABELS) as [keyof Secrets, string][]) {
      if (made[name] !== undefined) lines.push(`  ${label(text)}${paint(33, made[name])}`)
    }
    lines.push('')
  }
  lines.push('  To try it:', '', ...commands(ready), `  ${paint(2, 'in a browser:')} ${ready.management}/docs/api`, '')
  return `${lines.join('\n')}\n`
}

/** To be pasted as they are. What was given is in the environment of whoever gave it, or in a file that they know. */
function commands({ management, s3, s3Http, isFirst, made, secretsFile }: Announcement): string[] {
  const load = secretsFile === undefined ? '' : `. '${secretsFile}' && `
  const shown = secretsFile === undefined ? made : {}
  const password = shown.HOLDFAST_ADMIN_PASSWORD ?? (isFirst ? '$HOLDFAST_ADMIN_PASSWORD' : '<password>')
  const login = password.startsWith('$') ? `"admin:${password}"` : `admin:${password}`
  const lines = [`  ${load}curl -k -u ${login} '${management}/api/storage/volumes?fields=name,svm.name,space'`]
  const endpoint = s3Http ?? s3
  if (endpoint !== undefined) {
    const keys =
      shown.AWS_ACCESS_KEY_ID === undefined
        ? ''
        : `AWS_ACCESS_KEY_ID=${shown.AWS_ACCESS_KEY_ID} AWS_SECRET_ACCESS_KEY=${shown.AWS_SECRET_ACCESS_KEY} `
    const insecure = endpoint.startsWith('https') ? ' --no-verify-ssl' : ''
    lines.push(
      `  ${load}${keys}AWS_DEFAULT_REGION=us-east-1 aws --endpoint-url ${endpoint}${insecure} s3 mb s3://first`,
    )
  }
  return lines
}
