/**
 * Runs the suite, or the files named, over HTTPS against the whole product, started for it with a second user. The tests
 * alone start no more than a data plane, whose buckets are made by a stand-in for the management plane.
 *
 *     node_modules/.bin/node test/conformance/s3/against-product.ts [put-object ...]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { asText, recordsOf } from '../../support/body.ts'
import { basic } from '../../support/cluster.ts'
import { fresh, startProduct, type Product } from '../../support/product.ts'
import { RestClient } from '../../support/rest-client.ts'

const FILES_AT_ONCE = 2

const folder = dirname(fileURLToPath(import.meta.url))
const named = process.argv.slice(2).map((name) => `${name}.test.ts`)
const files = named.length > 0 ? named : globSync('*.test.ts', { cwd: folder }).toSorted()

const product = await startProduct()
try {
  const env = { ...process.env, NODE_NO_WARNINGS: '1', ...(await settingsFor(product)) }
  const runner = ['--test', `--test-concurrency=${FILES_AT_ONCE}`, ...files]
  const child = spawn(process.execPath, runner, { cwd: folder, stdio: 'inherit', env })
  const [code] = (await once(child, 'exit')) as [number | null]
  process.exitCode = code ?? 1
} finally {
  await product.stop()
}

/** What target.ts reads. */
async function settingsFor({ management, user, password, s3, accessKey, secretKey }: Product) {
  const api = new RestClient(management, basic(user, password))
  const { body } = await api.get('/api/protocols/s3/services?fields=svm.uuid')
  const users = `/api/protocols/s3/services/${asText(recordsOf(body)[0]?.['svm']?.['uuid'])}/users`
  const name = fresh('other')
  const other = recordsOf((await api.call('POST', users, { name })).body)[0]
  api.close()
  return {
    HOLDFAST_S3_ENDPOINT: s3,
    HOLDFAST_S3_ACCESS_KEY: accessKey,
    HOLDFAST_S3_SECRET_KEY: secretKey,
    HOLDFAST_S3_OTHER_ACCESS_KEY: asText(other?.['access_key']),
    HOLDFAST_S3_OTHER_SECRET_KEY: asText(other?.['secret_key']),
    HOLDFAST_S3_OTHER_PRINCIPAL: name,
    HOLDFAST_S3_INSECURE: '1',
  }
}
