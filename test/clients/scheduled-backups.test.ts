/** A cluster that makes backups by itself, and tells when it cannot. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { recordsOf } from '../support/body.ts'
import { killAll, run, SMALL, startWith, type Started } from '../support/started.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

describeUnless(reasonUnlessWhole('test/guide-to-backups.test.ts'), 'scheduled backups', {}, () => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-scheduled-'))
  afterEach(killAll)
  after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))

  /** The events of a name, once there are some. */
  const eventsOf = async (cluster: Started, name: string) => {
    for (;;) {
      const { body } = await cluster.rest.get(`/api/support/ems/events?message.name=${name}&fields=*`)
      const events = recordsOf(body)
      if (events.length > 0) return events
      await wait(50)
    }
  }

  it('are made when they are due, also after a restart that comes before that', async () => {
    const [data, to] = [join(root, 'data'), join(root, 'backups')]
    const flags = ['--data', data, '--backup', to, '--backup-hours', '1', '--backup-keep', '3']
    const cluster = await startWith(flags)
    assert.equal((await eventsOf(cluster, 'cluster.backup.made')).length, 1)
    cluster.kill('SIGTERM')
    assert.equal(await cluster.ended, 0)
    assert.equal(readdirSync(join(to, 'backups')).length, 1)
    const verified = run(['backup', 'verify', to], SMALL)
    assert.equal(await verified.ended, 0, verified.said())

    // The one that is there becomes an old one, and the next is due.
    const [name = ''] = readdirSync(join(to, 'backups'))
    rmSync(join(to, 'backups', name))
    const again = await startWith(flags)
    assert.equal((await eventsOf(again, 'cluster.backup.made')).length >= 1, true)
    while (readdirSync(join(to, 'backups')).filter((each) => each.endsWith('.json')).length === 0) await wait(50)
    again.kill('SIGTERM')
    assert.equal(await again.ended, 0)
  })

  it('that fail are told by an event with the reason', async () => {
    const place = join(root, 'a file')
    writeFileSync(place, '')
    const cluster = await startWith(['--data', join(root, 'other'), '--backup', place])
    const [event] = await eventsOf(cluster, 'cluster.backup.failed')
    assert.match(JSON.stringify(event), /cannot be used/)
    assert.ok(existsSync(place))
    cluster.kill('SIGTERM')
    assert.equal(await cluster.ended, 0)
  })
})
