/** Ceph's gateway over a cluster of one monitor and one OSD, which keeps its objects in a file on the same disk. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  baseOf,
  findProgram,
  freePort,
  HOST,
  runProgram,
  startProgram,
  versionIn,
  type Peer,
  type Started,
} from './peer.ts'

const OSD_BYTES = 40 * 2 ** 30

export const ceph: Peer = {
  name: 'Ceph RGW',
  syncs: 'some six `fdatasync`, of the log of the OSD and of its data',
  isDurable: true,
  async start({ folder, programs, certificate }) {
    const find = (name: string) => findProgram(name, programs)
    const [monitor, osd, gateway, admin] = [find('ceph-mon'), find('ceph-osd'), find('radosgw'), find('radosgw-admin')]
    const [monitorPort, port, cluster, osdId] = [await freePort(), await freePort(), randomUUID(), randomUUID()]
    const [accessKey, secretKey] = ['speedaccesskey', 'speed-secret-key']
    for (const name of ['mon', 'osd', 'rgw']) mkdirSync(join(folder, name))
    const config = join(folder, 'ceph.conf')
    writeFileSync(
      config,
      `[global]
fsid = ${cluster}
mon_host = v1:${HOST}:${monitorPort}
mon_initial_members = a
public_network = ${HOST}/32
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
run_dir = ${folder}
admin_socket = ${folder}/$name.asok
log_file = ${folder}/$name.log
crash_dir = ${folder}
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false
mon_max_pg_per_osd = 1000
[mon.a]
mon_data = ${folder}/mon
[osd.0]
osd_data = ${folder}/osd
osd_objectstore = bluestore
bluestore_block_size = ${OSD_BYTES}
[client.rgw]
rgw_data = ${folder}/rgw
rgw_frontends = beast ${
        certificate === undefined
          ? `endpoint=${HOST}:${port}`
          : `ssl_endpoint=${HOST}:${port} ssl_certificate=${certificate.certFile} ssl_private_key=${certificate.keyFile}`
      }
`,
    )
    const map = join(folder, 'monmap')
    runProgram(find('monmaptool'), ['--create', '--fsid', cluster, '--addv', 'a', `[v1:${HOST}:${monitorPort}]`, map])
    runProgram(monitor, ['--mkfs', '-i', 'a', '-c', config, '--monmap', map])
    const started: (Started & { readonly part: string })[] = []
    const end = async () => {
      for (const each of started.toReversed()) await each.end()
    }
    try {
      const start = async (part: string, program: string, id: string, at?: number) => {
        const name = `${part}.log-of-program`
        const options = at === undefined ? { folder } : { folder, port: at }
        started.push({ ...(await startProgram(name, program, [...id.split(' '), '-c', config, '-f'], options)), part })
      }
      await start('monitor', monitor, '-i a', monitorPort)
      const run = (...args: string[]) => runProgram(find('ceph'), ['-c', config, '--connect-timeout', '30', ...args])
      run('osd', 'new', osdId)
      runProgram(osd, ['-i', '0', '-c', config, '--mkfs', '--osd-uuid', osdId])
      await start('osd', osd, '-i 0')
      await start('gateway', gateway, '-n client.rgw', port)
      const user = ['--uid', 'speed', '--display-name', 'speed', '--access-key', accessKey, '--secret-key', secretKey]
      runProgram(admin, ['-c', config, '-n', 'client.rgw', 'user', 'create', ...user])
    } catch (failure) {
      await end()
      throw failure
    }
    return {
      name: 'Ceph RGW',
      version: versionIn(runProgram(monitor, ['--version'])),
      base: baseOf(port, certificate),
      accessKey,
      secretKey,
      region: 'us-east-1',
      cannot: [],
      processes: () => started.map(({ pid, part }) => ({ pid, part })),
      end,
    }
  },
}
