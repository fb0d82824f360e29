import {
  checkPostPolicy,
  formAnswer,
  formHeaders,
  formKey,
  readPostPolicy,
  verifyForm,
  withinRange,
} from '../auth/post-policy.ts'
import type { SizeRange } from '../auth/post-policy.ts'
import { planBody } from '../body/body.ts'
import { demand } from '../exchange/call.ts'
import type { Asking, BucketCall, Reply } from '../exchange/call.ts'
import { findChecksumAlgorithm } from '../checksums/algorithms.ts'
import { readLockHeaders } from '../config/object-lock.ts'
import { readTagging } from '../config/tagging.ts'
import { entityTooLarge, s3Error } from '../errors.ts'
import { formBoundary, formOverheadBytesMax, readForm } from '../body/form.ts'
import type { Form } from '../body/form.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { checkKey, urlEncodedKey } from '../request/keys.ts'
import { requestBytesMaxOf } from '../objects/limits.ts'
import { putObject } from '../objects/put.ts'
import { bodyOf } from '../objects/store-body.ts'
import { checksumHeaders, expirationHeaders } from './object-headers.ts'
import { readObjectWrite } from './object-write.ts'
import { writtenVersionHeaders } from './parameters.ts'
import { conditionOfWrite } from './write-conditions.ts'

/**
 * An upload by a form of a web page. Its fields are what headers are to PutObject, and its file is stored the same way.
 * Who uploads is whoever signed the policy of the form, or nobody: that is known only after its fields have come, so this
 * operation decides for itself who may.
 */
export async function postObject(call: BucketCall): Promise<Reply> {
  const boundary = formBoundary(call.headers)
  if (call.caller !== undefined) {
    throw s3Error('InvalidRequest', {
      message: 'A form is signed by its fields. Send it without an Authorization header and without a signed query.',
    })
  }
  const source = call.rawBody()
  try {
    return await storeForm(call, await readForm(source, boundary))
  } finally {
    // What of the body was not read is for nobody else: the connection goes on, or ends, without it.
    await source.return(undefined)
  }
}

async function storeForm(call: BucketCall, form: Form): Promise<Reply> {
  const { store, bucket, nowMs, bucketUrl } = call
  const keyText = formKey(form)
  const key = Buffer.from(keyText, 'utf8')
  const { range, ...from } = await judge(call, form)
  checkKey(key)

  const headers = formHeaders(form)
  const tagging = form.fields.get('tagging')
  const tags = tagging === undefined ? undefined : readTagging(Buffer.from(tagging, 'utf8'), 'object')
  const asking: Asking = {
    ...from,
    headers: seenByPolicies(call.headers, headers),
    requestTags: () => tags,
    requestLock: () => readLockHeaders(headers, nowMs),
  }
  await demand(call, 's3:PutObject', bucket.name, key, asking)
  const write = await readObjectWrite({ ...call, key }, headers, asking)

  const algorithm = findChecksumAlgorithm(headerValue(headers, 'x-amz-checksum-algorithm') ?? '')
  const plan = planBody({
    headers,
    payload: { kind: 'unsigned' },
    maxBytes: range.maxBytes,
    isOpenEnded: true,
    ...(algorithm === undefined ? {} : { fallbackAlgorithm: algorithm }),
  })
  const leastBytes = leastFileBytes(call.headers)
  if (leastBytes > range.maxBytes) throw entityTooLarge(leastBytes, range.maxBytes)
  const object = await putObject(store, bucket, key, {
    sizeBytes: leastBytes,
    body: () => bodyOf(plan, withinRange(form.file, range)),
    details: { ...write, tags: write.tags ?? [] },
    locks: write,
    condition: await conditionOfWrite({ ...call, key }, asking),
  })
  const location = `${bucketUrl}/${urlEncodedKey(key)}`
  const answer = formAnswer(form, { location, bucket: bucket.name, key: keyText, etag: object.etag })
  return {
    ...answer,
    headers: {
      ...answer.headers,
      ...checksumHeaders(object.checksum),
      ...writtenVersionHeaders(object.version),
      ...expirationHeaders(bucket, { ...object, key }),
    },
  }
}

/** Whom a form is from, and how large its file may be: what the policy says that was signed with it must hold. */
async function judge(
  { formVerifier, bucket, nowMs }: BucketCall,
  form: Form,
): Promise<Pick<Asking, 'as' | 'signed'> & { readonly range: SizeRange }> {
  const verified = await verifyForm(form, formVerifier)
  if (verified.kind === 'anonymous')
    return { as: { user: undefined }, range: { minBytes: 0, maxBytes: requestBytesMaxOf(bucket) } }
  const { account, policy, signedMs } = verified
  const range = checkPostPolicy(readPostPolicy(policy), form, { bucket: bucket.name, nowMs })
  return {
    as: { user: account },
    range: { ...range, maxBytes: Math.min(range.maxBytes, requestBytesMaxOf(bucket)) },
    signed: { by: 'form', signedMs },
  }
}

/** The headers of the request, such as its Referer, with the fields in place of those that would say the same. */
function seenByPolicies(request: RequestHeaders, fields: RequestHeaders): RequestHeaders {
  const own = [...request].filter(([name]) => !name.startsWith('x-amz-') && !name.startsWith('content-'))
  return new Map([...own, ...fields])
}

/** What the file has at least, if the request says how long it is: all but the fields, which are bounded. */
function leastFileBytes(headers: RequestHeaders): number {
  const length = headerValue(headers, 'content-length') ?? ''
  return /^\d{1,15}$/.test(length) ? Math.max(0, Number(length) - formOverheadBytesMax) : 0
}
