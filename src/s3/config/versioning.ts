import { s3Error } from '../errors.ts'
import { findText, malformed, readXml, xmlDocument } from '../xml/xml.ts'
import { checkElements } from './elements.ts'

/** A bucket that was never given one keeps no versions, and can get back to that state no more. */
export type VersioningState = 'unversioned' | 'enabled' | 'suspended'

/** The body of PutBucketVersioning. */
export function readVersioning(body: Uint8Array): 'enabled' | 'suspended' {
  const root = readXml(body, 'VersioningConfiguration')
  checkElements(root, ['Status', 'MfaDelete'])
  const mfaDelete = findText(root, 'MfaDelete')
  if (mfaDelete !== undefined && mfaDelete !== 'Enabled' && mfaDelete !== 'Disabled') {
    throw malformed('MfaDelete is Enabled or Disabled.')
  }
  if (mfaDelete === 'Enabled') throw s3Error('NotImplemented', { message: 'MfaDelete is not implemented.' })
  const status = findText(root, 'Status')
  if (status === undefined) {
    throw s3Error('IllegalVersioningConfigurationException', {
      message: 'The Versioning element must be specified',
    })
  }
  if (status !== 'Enabled' && status !== 'Suspended') throw malformed('Status is Enabled or Suspended.')
  return status === 'Enabled' ? 'enabled' : 'suspended'
}

/** Locks hold versions, so a bucket that has them cannot stop keeping versions. */
export function checkVersioningChange(
  wanted: 'enabled' | 'suspended',
  bucket: { readonly hasObjectLock: boolean },
): void {
  if (wanted === 'enabled' || !bucket.hasObjectLock) return
  throw s3Error('InvalidBucketState', {
    message: 'An Object Lock configuration is present on this bucket, so the versioning state cannot be changed.',
  })
}

export function versioningDocument(state: VersioningState): string {
  if (state === 'unversioned') return xmlDocument('VersioningConfiguration', '')
  return xmlDocument('VersioningConfiguration', { Status: state === 'enabled' ? 'Enabled' : 'Suspended' })
}
