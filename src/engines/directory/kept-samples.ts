/**
 * Files of blobs as earlier releases wrote them, compressed by gzip, in base64. Both hold `SAMPLE_CONTENT` and a label
 * with its MD5. They are kept so that every later release is tested to read and to upgrade them.
 */
import { gunzipSync } from 'node:zlib'

const SAMPLE_BYTES = 150_000

/** `line 0`, `line 1` and so on to `line 99`, and again. */
export const SAMPLE_CONTENT = Buffer.from(
  Array.from({ length: 20_000 }, (_, n) => `line ${n % 100}\n`)
    .join('')
    .slice(0, SAMPLE_BYTES),
)

/** Format 1: a plain blob without checksums of its bytes. */
export function sampleOfFormat1(): Buffer {
  return sample(FORMAT_1)
}

/** Format 2: a compressed blob with checksums of its frames alone. */
export function sampleOfFormat2(): Buffer {
  return sample(FORMAT_2)
}

function sample(lines: readonly string[]): Buffer {
  return gunzipSync(Buffer.from(lines.join(''), 'base64'))
}

const FORMAT_1 = [
  'H4sIAAAAAAACA+3TvWoUUQCG4cXSq5BTp5jfMzMLaYKFQsDC1mbXnUhI0MKIqHjPtnYS5ps7sHym+ap5mZ/zPN5/Xl81Lx+fp92m26bfZthm3KZuM20z',
  'b7Pk9j2TTptQm1KbVJtWm1ibWptcm16XXrc/V3pdel16XXpdel16XXpden16fXr9/qLp9en16fXp9en16fXpDekN6Q3pDfuXS29Ib0hvSG9Ib0hvTG9M',
  'b0xvTG/cf0V6Y3pjemN6Y3o1vZpeTa+mV9Or+79Nr6ZX06vpTelN6U3pTelN6U3pTfthSW9Kb0pvTm9Ob05vTm9Ob05vTm/eT196c3pLekt6S3pLekt6',
  'S3pLekt6y36c06OCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCC',
  'CiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoq',
  'qKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqig',
  'ggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIK',
  'KqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqo',
  'oIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCC',
  'CiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoq',
  'qKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqig',
  'ggoqqKCCCiqooIIKKqigggoqqKCCCiqooIIKKqigggoqqKCCiv+u4lc5f/v4sD6VYzmXq/Kw/ijHcvp+fV2uytf7n2s5tmPTNM1VWZ9On8qx1GXuTqe1',
  'TlPf3Z0vTR2bpq2XsZvW8+V0upTfh8Ph/eH5evH2z5fm74c3725f39zetP8AGQFEultKAgA=',
]

const FORMAT_2 = [
  'H4sIAAAAAAACA9PYqv+XIeIsM8MjN0HBDaqW7NcSud7ECk7c9DRUQ4MxFARcQMAYBP7//78/9/a2u9tyb09S8Zx0e1vu7I6Ojg6Rs7F+RySYGAUEkjla',
  'Ulco7PvHdmDyKVOhCRe3////v/z2n54GgRYdjpvLdQ2FOuQKb3A4Z09sWRQvdjxIYUuepgbYBU+ZGT4dExDYsLyAPVOi4YxP5vYtW1448GDaePvMmTNn',
  'ekDWdqh4ThIRFBQULN8p6PpAj19AhK0lkTFrhcK+eYwbJjfFMAtdgDhg55+eBEORZwq+rGpeQoJC/LIXJ0zcemGZxh4WXYYU7ZZFj2+JQBzBysKwyQ3m',
  'CIbMcJclW/Z4MQj8////P8JWtACAOeJHx+mXzQsMFBgeOeetCKh5v2DypGyhggPx////v9/u5qbx///7/f9r504Q43zFfk4qddXRJsUHDpJijZpSD3j6',
  'GUQFdwkoJIv91mRgYGgSSj7AxsDA0Bp/1H0XAwND55L9D6ZXKyWVJmenlihZKSUp6Shlp1YqWSklltvaKukoFWdWpSpZGZoaGBgY6CilliSmK1kpmVla',
  'GCUmppqZmxsbpSWlGJiZGhgYmqWYGpmnJqUkJqYo1TKAAeMKBgYGZjU1ZV0GBoZgsBCT54ddni+OePj7uDj5OBkBAL8P5cMjAgAA',
]
