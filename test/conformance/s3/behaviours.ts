/**
 * The behaviours that stores are compared by, each by its short name: a test of this folder has it in brackets at the end
 * of its name. table.test.ts sees to it that none is forgotten.
 */
export const behaviours = `
  md5-bad md5-invalid
  sum-crc32 sum-crc32c sum-crc64nvme sum-sha1 sum-sha256 sum-bad-400 sum-two-400 sum-default-crc64nvme sum-type-header
  content-sha256-mismatch unsigned-payload
  chunk-signed chunk-signed-trailer chunk-unsigned-trailer-crc32 chunk-unsigned-trailer-crc64nvme
  chunk-bad-trailer-400 chunk-bad-signature-403 chunk-keeps-gzip-only
  put-if-none-match-new put-if-none-match-412 put-if-none-match-race
  put-if-match-wrong-412 put-if-match-right put-if-match-missing-404
  complete-if-none-match-412 copy-if-none-match-412 delete-if-match-412 deleteobjects-etag
  get-if-none-match-304 get-if-match-412
  mp-composite-sha256 mp-full-object-crc32 mp-object-size mp-entity-too-small mp-part-order mp-no-such-upload
  get-part-number upload-part-copy-range get-object-attributes
  listbuckets-pages listbuckets-prefix listv2 list-checksum-algorithm versions
  request-ids error-fields bucket-region-header no-such-bucket bucket-name-400
  range clock-skew-403 expect-100 anonymous-403 presigned-get presigned-expired post-form sigv2
  key-slashes key-dots key-trailing-slash key-unicode key-plus-space key-1024 key-300-in-one-name key-control
  key-file-and-dir key-1025-400
  metadata-too-large copy-to-self-400 tagging policy-public cors-preflight lifecycle object-lock legal-hold
  sse-c sse-s3 public-access-block deleteobjects-checksum expected-owner-403
`
  .trim()
  .split(/\s+/)
