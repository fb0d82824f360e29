import { define } from '../../../../../../core/behaviour.ts'
import type { FieldDeclaration } from '../../../../../../model/resource.ts'
import { fpolicyEngines, FPOLICY_ENGINES } from '../../../../../protocols/fpolicy/engines.ts'
import { fpolicyName } from '../../../../../protocols/fpolicy/names.ts'
import { commandVerbs, renamed, rowsBy, type Spelling, vserverField } from '../command-line.ts'

/** What the command line calls the fields of an engine. */
const names = {
  primary_servers: 'primary_servers',
  secondary_servers: 'secondary_servers',
  port: 'port',
  extern_engine_type: 'type',
  ssl_option: 'ssl_option',
  certificate_common_name: 'certificate.name',
  certificate_serial: 'certificate.serial_number',
  certificate_ca: 'certificate.ca',
  max_connection_retries: 'max_connection_retries',
  max_server_reqs: 'max_server_requests',
  recv_buffer_size: 'buffer_size.recv_buffer',
  send_buffer_size: 'buffer_size.send_buffer',
  is_resiliency_enabled: 'resiliency.enabled',
  resiliency_directory_path: 'resiliency.directory_path',
} as const

const spelling: Spelling = { type: FPOLICY_ENGINES, name: 'engine_name', ...renamed(names) }

export const fpolicyEngineCommand = define(
  {
    path: '/private/cli/vserver/fpolicy/policy/external-engine',
    noun: 'FPolicy engine',
    doc: 'Engines of FPolicy, by the names that the command line gives their fields.',
    key: ['vserver', 'engine_name'],
    recordKey: ['vserver', 'engine_name'],
    rowsOf: FPOLICY_ENGINES,
    nameWithin: false,
    fields: {
      vserver: vserverField,
      engine_name: { doc: 'The name of the engine.', kind: fpolicyName(), set: 'create', required: true },
      ...Object.fromEntries(
        Object.entries(names).map(([name, path]): [string, FieldDeclaration] => {
          const { doc = '', kind } = fpolicyEngines.resource.fields.get(path) ?? {}
          return [name, { doc, set: 'always', ...(kind === undefined ? {} : { kind }) }]
        }),
      ),
    },
  },
  { rows: rowsBy(spelling), ...commandVerbs(spelling, fpolicyEngines) },
)
