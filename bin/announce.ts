/** What a start prints when the cluster is ready: addresses, credentials of the first start, commands to paste. */
export interface Announcement {
  readonly management: string
  readonly s3: string | undefined
  readonly s3Http: string | undefined
  readonly dataFolder: string
  readonly readyMs: number
  readonly release: string
  /** Given at the first start only. */
  readonly adminPassword: string | undefined
  readonly accessKey: string | undefined
  readonly secretKey: string | undefined
  readonly isFirst: boolean
}

export function announce(ready: Announcement, hasColour: boolean): string {
  const paint = (code: number, text: string) => (hasColour ? `\u001B[${code}m${text}\u001B[0m` : text)
  const label = (text: string) => paint(2, text.padEnd(16))
  const password = ready.adminPassword ?? '<password>'
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
  if (ready.isFirst) {
    lines.push('  First credentials. They are shown this once:', '')
    lines.push(`  ${label('User')}admin`)
    if (ready.adminPassword !== undefined) lines.push(`  ${label('Password')}${paint(33, ready.adminPassword)}`)
    if (ready.accessKey !== undefined) lines.push(`  ${label('Access key')}${paint(33, ready.accessKey)}`)
    if (ready.secretKey !== undefined) lines.push(`  ${label('Secret key')}${paint(33, ready.secretKey)}`)
    lines.push('')
  }
  lines.push('  To try it:', '')
  lines.push(`  curl -k -u admin:${password} '${ready.management}/api/storage/volumes?fields=name,svm.name,space'`)
  const endpoint = ready.s3Http ?? ready.s3
  if (endpoint !== undefined) {
    const keys =
      ready.accessKey === undefined
        ? ''
        : `AWS_ACCESS_KEY_ID=${ready.accessKey} AWS_SECRET_ACCESS_KEY=${ready.secretKey} `
    const insecure = endpoint.startsWith('https') ? ' --no-verify-ssl' : ''
    lines.push(`  ${keys}AWS_DEFAULT_REGION=us-east-1 aws --endpoint-url ${endpoint}${insecure} s3 mb s3://first`)
  }
  lines.push(`  ${paint(2, 'in a browser:')} ${ready.management}/docs/api`, '')
  return `${lines.join('\n')}\n`
}
