import { type Behaviour, define } from '../../../core/behaviour.ts'
import { plainVerbs } from '../../../core/plain.ts'
import { count, flag, oneOf, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { namesBy } from '../../../model/naming.ts'
import { insistOnKey } from './keys.ts'

const ntpServersResource = resource({
  path: '/cluster/ntp/servers',
  noun: 'NTP server',
  doc: 'NTP servers of the cluster. Stored without effect: the machine sets its own clock.',
  key: ['server'],
  recordKey: ['server'],
  nameWithin: false,
  form: { Server: ['server', 'version', 'authentication_enabled', 'key.id'] },
  removal: 'undoable',
  within: { key: namesBy('cluster/ntp/keys', 'blocks', 'key.id') },
  fields: {
    server: {
      doc: 'The host name or address of the server.',
      kind: text({
        charactersMin: 1,
        charactersMax: 255,
        pattern: /^[A-Za-z0-9:]([A-Za-z0-9.:_-]*[A-Za-z0-9:])?$/,
        patternDoc: 'a host name or an IP address',
      }),
      set: 'create',
      required: true,
    },
    version: {
      doc: 'The NTP version that the server speaks.',
      kind: oneOf({ '3': 'NTP version 3.', '4': 'NTP version 4.', auto: 'The version is negotiated.' }),
      set: 'always',
      default: 'auto',
    },
    authentication_enabled: {
      doc: 'Whether responses of the server must be signed.',
      kind: flag(),
      set: 'always',
      default: false,
    },
    key: { doc: 'The key that authenticates the answers of the NTP server.', isGroup: true },
    'key.id': {
      doc: 'The ID of the key that signs responses of the server.',
      kind: count({ min: 1, max: 65_535 }),
      set: 'always',
    },
  },
})

export const ntpServers: Behaviour<typeof ntpServersResource> = define(
  ntpServersResource,
  plainVerbs('cluster/ntp/servers', {
    example: { server: 'time.example.com' },
    exampleChange: { version: '4' },
    check: insistOnKey,
  }),
)
