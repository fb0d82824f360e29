/**
 * What each release serves. `introduced.txt` says for fields of shipping systems which release brought them; what is
 * declared here is held to it, in every release that can be served and in every way a field can be met.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { openApi } from '../../src/faces/openapi/document.ts'
import { documentPath } from '../../src/faces/openapi/operations.ts'
import type { Kind } from '../../src/model/kinds/index.ts'
import { isServed, release, releases } from '../../src/model/release.ts'
import type { Resource } from '../../src/model/resource.ts'
import { behaviours } from '../../src/resources/index.ts'
import { startTestCluster } from '../support/cluster.ts'

/** Release by field path, by resource type. Fields that are not there are our own. */
const introduced = readIntroduced(readFileSync(new URL('introduced.txt', import.meta.url), 'utf8'))

const ASKED_AT_ONCE = 50

interface Declared {
  readonly path: string
  /** Of the resource, the field and the members around it, the latest. */
  readonly since: string
}

describe('releases', () => {
  it('every field that is declared appears with the release that brought it', () => {
    const wrong: string[] = []
    let compared = 0
    for (const { resource } of behaviours) {
      for (const { path, since } of declaredFields(resource)) {
        const fact = introduced.get(resource.type)?.get(path)
        if (fact === undefined) continue
        compared++
        if (minorOf(since) !== minorOf(fact)) wrong.push(`${resource.type} ${path}: since ${since}, was in ${fact}`)
      }
    }
    assert.deepEqual(wrong, [])
    assert.ok(compared > 300, `${compared} fields were compared`)
  })

  for (const served of releases) {
    it(`${served} serves its own resources and fields, and none that came later`, { timeout: 120_000 }, async () => {
      const test = await startTestCluster({ release: served })
      const now = release(served)
      const { paths } = openApi(test.cluster) as { paths: Record<string, unknown> }
      const schemas = JSON.stringify(openApi(test.cluster))
      for (const { resource } of behaviours) {
        const isThere = isServed(resource.since, now)
        assert.equal(
          Object.hasOwn(paths, documentPath(resource.path)),
          isThere,
          `${resource.path} in the OpenAPI document`,
        )
        if (resource.pathKeys.length > 0) continue
        const target = `/api${resource.path}`
        const { status, body } = await test.call('GET', target)
        assert.equal(status, isThere ? 200 : 404, `GET ${target} in ${served}: ${JSON.stringify(body)}`)
        if (!isThere) continue
        const shown = declaredFields(resource).filter(({ path }) => !isHidden(resource, path))
        const [there = [], later = []] = [true, false].map((is) =>
          shown.filter(({ since }) => isServed(since, now) === is).map(({ path }) => path),
        )
        // One that is not served would have the whole request refused.
        for (let from = 0; from < there.length; from += ASKED_AT_ONCE) {
          const paths = there.slice(from, from + ASKED_AT_ONCE).join()
          const asked = await test.call('GET', `${target}?fields=${paths}`)
          assert.equal(asked.status, 200, `fields=${paths} of ${target} in ${served}: ${JSON.stringify(asked.body)}`)
        }
        for (const path of later) {
          const asked = await test.call('GET', `${target}?fields=${path}`)
          assert.equal(asked.status, 400, `fields=${path} of ${target} in ${served}`)
          const filtered = await test.call('GET', `${target}?${path}=1`)
          assert.equal(filtered.status, 400, `${path}=1 of ${target} in ${served}`)
          const ordered = await test.call('GET', `${target}?order_by=${path}`)
          assert.equal(ordered.status, 400, `order_by=${path} of ${target} in ${served}`)
        }
      }
      const version = await test.call('GET', '/api/cluster?fields=version')
      const [generation, major, minor = '0'] = served.split('.')
      assert.deepEqual(version.body['version'], {
        full: `Holdfast Release ${served}`,
        generation: Number(generation),
        major: Number(major),
        minor: Number(minor),
      })
      assert.deepEqual((await test.call('GET', '/api/cluster/version')).body['version'], version.body['version'])
      assert.equal(schemas.includes('"retention_period"'), isServed('9.12.1', now))
      await test.close()
    })
  }

  it('a field or a member that came later is refused in bodies, and not shown', async () => {
    const old = await startTestCluster({ release: '9.11.1' })
    const policy = { name: 'p', copies: [{ schedule: 'daily', count: 2, retention_period: 'P1D' }] }
    const refused = await old.call('POST', '/api/storage/snapshot-policies', policy)
    assert.equal(refused.status, 422)
    assert.match(JSON.stringify(refused.body), /unknown property \\"retention_period\\"/)
    const bucket = await old.call('POST', '/api/protocols/s3/buckets', {
      name: 'bucket-1',
      svm: 'svm1',
      size: '1g',
      type: 's3',
    })
    assert.equal(bucket.body['error']?.['target'], 'type')
    const { body } = await old.call('GET', '/api/storage/snapshot-policies?name=default&fields=copies')
    assert.match(JSON.stringify(body), /"schedule":\{"name":"hourly"\}/)
    await old.close()

    const latest = await startTestCluster()
    assert.equal((await latest.call('POST', '/api/storage/snapshot-policies', policy)).status, 201)
    await latest.close()
  })
})

/** All fields with their members, each with the release from which on it is there. */
function declaredFields(resource: Resource): Declared[] {
  const found: Declared[] = []
  const add = (path: string, since: string, kind: Kind) => {
    found.push({ path, since })
    for (const [name, member] of Object.entries(kind.members ?? {})) {
      add(`${path}.${name}`, latest(since, member.since), member.kind)
    }
  }
  for (const { kind, path, since } of resource.fields.values()) add(path, latest(resource.since ?? '9.8', since), kind)
  return found
}

function isHidden(resource: Resource, path: string): boolean {
  const field = resource.fields.get(path)
  return field?.kind.isSecret === true || field?.shownOnce === true
}

function latest(one: string, other: string | undefined): string {
  return other !== undefined && minorOf(other) > minorOf(one) ? other : one
}

/** 9.11 and 9.11.1 are the same feature release; before 9.8 nothing is served. */
function minorOf(text: string): number {
  return Math.max(8, Number(text.split('.')[1]))
}

function readIntroduced(text: string): Map<string, Map<string, string>> {
  const types = new Map<string, Map<string, string>>()
  let fields = new Map<string, string>()
  for (const line of text.split('\n').filter((each) => each !== '')) {
    if (line.startsWith('  ')) {
      const [since = '', ...paths] = line.trim().split(' ')
      for (const path of paths) fields.set(path, since)
    } else {
      fields = new Map()
      types.set(line, fields)
    }
  }
  return types
}
