import { invalidArgument, s3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'

const encryptionPrefix = 'x-amz-server-side-encryption'
const customerPrefix = `${encryptionPrefix}-customer-`

/** How an object is encrypted is said by who writes it. A read that says it is refused, as Amazon does. */
export function refuseEncryptionHeaders(headers: RequestHeaders): void {
  for (const name of headers.keys()) {
    if (!name.startsWith(encryptionPrefix) || name.startsWith(customerPrefix)) continue
    const value = headerValue(headers, name) ?? ''
    throw invalidArgument(`${encryptionPrefix} header is not supported for this operation.`, name, value)
  }
}

/** A key of the client is for objects that were encrypted with it, and there are none. */
export function refuseCustomerKey(headers: RequestHeaders): void {
  if (![...headers.keys()].some((name) => name.startsWith(customerPrefix))) return
  throw s3Error('InvalidRequest', { message: 'The encryption parameters are not applicable to this object.' })
}
