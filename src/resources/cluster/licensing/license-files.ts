/**
 * What a license file says. It is JSON on one line, signed by the vendor:
 *
 *     {"statusResp":{"product":"…","serialNumber":"…","licenses":{"package":["S3"],"HostID":"…","endDate":"…"}},"Signature":"…"}
 *
 * In an older form product and serial number are within `licenses`. The signature is not looked at: nothing depends on it.
 */
import { failure } from '../../../model/failure.ts'
import { isRecord } from '../../../model/value.ts'

export interface LicenseFile {
  readonly product: string
  readonly serialNumber: string
  readonly packages: readonly string[]
  readonly hostId: string
  readonly scope: 'site' | 'cluster' | 'node'
  readonly isEvaluation: boolean
  readonly endMs: number | undefined
}

const PACKAGES_MAX = 64
const WORD = /^[\w .()+-]{1,128}$/

export function readLicenseFile(key: string, at: number): LicenseFile {
  const odd = (what: string) => failure('licenseRefused', { index: at, problem: what })
  const response = parse(key)
  if (response === undefined) throw odd('it is not the JSON of a license file')
  const licenses = isRecord(response['licenses']) ? response['licenses'] : {}
  const word = (value: unknown): string => (typeof value === 'string' && WORD.test(value) ? value : '')
  const product = word(response['product'] ?? licenses['product'])
  const serialNumber = word(response['serialNumber'] ?? licenses['serialNumber'])
  if (product === '' || serialNumber === '') throw odd('it names no product and serial number')
  const listed: readonly unknown[] = Array.isArray(licenses['package']) ? licenses['package'] : [licenses['package']]
  const packages = [...new Set(listed.map((one) => word(one).toLowerCase().replaceAll(/[ .-]/g, '_')).filter(Boolean))]
  if (packages.length === 0 || packages.length > PACKAGES_MAX) throw odd('it names no package')
  const scope = word(licenses['licenseScope'])
  const end = licenses['endDate']
  const endMs = typeof end === 'string' ? Date.parse(end) : Number.NaN
  return {
    product,
    serialNumber,
    packages,
    hostId: word(licenses['HostID']),
    scope: scope === 'site' || scope === 'node' ? scope : 'cluster',
    isEvaluation: String(licenses['evaluation']) === 'true',
    endMs: Number.isFinite(endMs) ? endMs : undefined,
  }
}

function parse(key: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const file: unknown = JSON.parse(key)
    return isRecord(file) && isRecord(file['statusResp']) ? file['statusResp'] : undefined
  } catch (failure) {
    if (failure instanceof SyntaxError) return undefined
    throw failure
  }
}
