/** Files, without signatures, digests, an index or a sync: what the machine gives to whom asks for nothing else. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BUCKET } from '../rows.ts'
import {
  baseOf,
  findProgram,
  freePort,
  HOST,
  Missing,
  runProgram,
  startProgram,
  targetOf,
  versionIn,
  type Peer,
} from './peer.ts'

export const nginx: Peer = {
  name: 'nginx',
  syncs: 'never',
  isDurable: false,
  async start({ folder, programs, certificate }) {
    const program = findProgram('nginx', programs)
    const about = runProgram('sh', ['-c', `'${program}' -V 2>&1`])
    if (!about.includes('http_dav_module')) {
      throw new Missing('This nginx has no module for PUT.')
    }
    const port = await freePort()
    mkdirSync(join(folder, 'files', BUCKET), { recursive: true })
    const secure =
      certificate === undefined
        ? ''
        : `ssl_certificate ${certificate.certFile}; ssl_certificate_key ${certificate.keyFile};`
    const config = join(folder, 'nginx.conf')
    writeFileSync(
      config,
      `${process.getuid?.() === 0 ? 'user root;\n' : ''}daemon off; worker_processes auto; pid ${folder}/pid; error_log stderr error;
events { worker_connections 512; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; default_type application/octet-stream;
  open_file_cache max=4096 inactive=60s; client_max_body_size 1g; client_body_buffer_size 64k;
  client_body_temp_path ${folder}/files/receiving; proxy_temp_path ${folder}/b; fastcgi_temp_path ${folder}/c;
  uwsgi_temp_path ${folder}/d; scgi_temp_path ${folder}/e;
  server {
    listen ${HOST}:${port}${certificate === undefined ? '' : ' ssl'}; ${secure} root ${folder}/files;
    location ~ ^/[^/]+$ { return 200; }
    location / { dav_methods PUT DELETE; create_full_put_path on; }
  }
}
`,
    )
    const started = await startProgram('nginx', program, ['-p', folder, '-c', config], { folder, port })
    const base = baseOf(port, certificate)
    const cannot = ['list', 'listdelim', 'mixed']
    const keys = { accessKey: 'none', secretKey: 'none', region: 'us-east-1' }
    return targetOf(started, { name: 'nginx', version: versionIn(about), base, ...keys, cannot })
  },
}
