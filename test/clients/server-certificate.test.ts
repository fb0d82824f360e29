/** The certificate of an object store server, as clients see it when they connect. */
import assert from 'node:assert/strict'
import { connect } from 'node:tls'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { asText, recordsOf } from '../support/body.ts'
import { startProduct } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'

/** Only a test that fails waits so long: machines that test are busy. */
const SHOWN_WITHIN_MS = 120_000

test('an object store server shows the certificate that it is given, and that of the cluster again', async () => {
  const product = await startProduct()
  const login = Buffer.from(`${product.user}:${product.password}`).toString('base64')
  const rest = new RestClient(product.management, `Basic ${login}`)
  try {
    const [server] = recordsOf((await rest.call('GET', '/api/protocols/s3/services?fields=svm,certificate')).body)
    const svm = server?.['svm']
    const path = `/api/protocols/s3/services/${asText(svm?.['uuid'])}`
    const first = await shownAt(product.s3)
    const certificate = {
      name: 'shown',
      common_name: 'objects.example.com',
      type: 'server',
      svm: { name: svm?.['name'] },
    }
    const made = await rest.call('POST', '/api/security/certificates?return_records=true', certificate)
    const uuid = asText(recordsOf(made.body)[0]?.['uuid'])

    const named = await rest.call('PATCH', path, { certificate: { name: 'shown' } })
    assert.equal(named.status, 200, named.text)
    const read = await rest.call('GET', `${path}?fields=certificate`)
    assert.deepEqual([read.body['certificate']?.['name'], read.body['certificate']?.['uuid']], ['shown', uuid])
    await until(product.s3, 'objects.example.com')
    const held = await rest.call('DELETE', `/api/security/certificates/${uuid}`)
    assert.equal(held.status, 409, held.text)

    const other = { ...certificate, name: 'root', common_name: 'root.example.com', type: 'root_ca' }
    assert.equal((await rest.call('POST', '/api/security/certificates', other)).status, 201)
    const refused = await rest.call('PATCH', path, { certificate: { name: 'root' } })
    assert.deepEqual([refused.status, refused.body['error']?.['target']], [422, 'certificate'])

    const taken = await rest.call('PATCH', path, { certificate: { name: '' } })
    assert.equal(taken.status, 200, taken.text)
    await until(product.s3, first)
    assert.equal((await rest.call('DELETE', `/api/security/certificates/${uuid}`)).status, 200)
  } finally {
    rest.close()
    await product.stop()
  }
})

async function until(address: string | undefined, name: string): Promise<void> {
  for (const endMs = Date.now() + SHOWN_WITHIN_MS; (await shownAt(address)) !== name;) {
    assert.ok(Date.now() < endMs, `${name} is not shown`)
    await wait(100)
  }
}

/** The common name of the certificate that is shown at an address. */
function shownAt(address: string | undefined): Promise<string> {
  const { hostname, port } = new URL(address ?? '')
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      const { CN: name } = socket.getPeerCertificate().subject
      socket.destroy()
      resolve(String(name))
    })
    socket.on('error', reject)
  })
}
