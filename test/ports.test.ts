import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settlePorts } from '../bin/ports.ts'

const ANY = { host: '127.0.0.1', port: 0 }

test('port 0 becomes one that none of the other listeners of the start has', async () => {
  const offered = [8443, 5001, 5001, 9080, 5002]
  let held = 0
  const hold = () => {
    held++
    const free = () => {
      held--
      return Promise.resolve()
    }
    return Promise.resolve({ port: offered.shift() ?? assert.fail('no more ports are asked for'), free })
  }
  const given = { s3: ANY, s3Http: ANY, other: { ...ANY, port: 9080 }, off: undefined }
  assert.deepEqual(await settlePorts(given, [8443], hold), {
    s3: { ...ANY, port: 5001 },
    s3Http: { ...ANY, port: 5002 },
    other: { ...ANY, port: 9080 },
    off: undefined,
  })
  assert.equal(held, 0, 'whoever serves can bind them')
})

test('settled ports are free', async () => {
  const { s3, s3Http } = await settlePorts({ s3: ANY, s3Http: ANY }, [])
  assert.ok(s3 !== undefined && s3Http !== undefined)
  assert.notEqual(s3.port, s3Http.port)
  assert.deepEqual(await settlePorts({ s3 }, []), { s3 })
})
