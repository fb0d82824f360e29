import { type Behaviour, define } from '../../../core/behaviour.ts'
import { plainVerbs } from '../../../core/plain.ts'
import { count, flag, oneOf, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { insistOnKey } from './keys.ts'

const ntpServersResource = resource({
  path: '/cluster/ntp/servers',
  noun: 'NTP server',
  doc: 'Time servers of the cluster. They are a record: the clock is that of the machine.',
  key: ['server'],
  recordKey: ['server'],
  nameWithin: false,
  form: { Server: ['server', 'version', 'authentication_enabled', 'key.id'] },
  removal: 'undoable',
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
      doc: 'The version of the protocol that it speaks.',
      kind: oneOf('3', '4', 'auto'),
      set: 'always',
      default: 'auto',
    },
    authentication_enabled: {
      doc: 'Whether its answers are to be signed.',
      kind: flag(),
      set: 'always',
      default: false,
    },
    key: { doc: 'The key that authenticates the answers of the NTP server.', isGroup: true },
    'key.id': {
      doc: 'The key that they are signed with.',
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
