/** What the command line calls the fields of FPolicy. */
import { flag } from '../../model/kinds/index.ts'
import { filterProtocols, operationProtocols } from '../../resources/protocols/fpolicy/watchable.ts'
import type { Spelled } from './names.ts'
import { namesIn, type Phrase, whole, wordsUnder } from './phrases.ts'
import type { Part } from './spelling.ts'

export const FPOLICY_EVENT: Spelled<'protocols/fpolicy/{svm.uuid}/events'> = {
  event_name: 'name',
  volume_operation: 'volume_monitoring',
  file_operations: wordsUnder('file_operations', Object.keys(operationProtocols)),
  filters: wordsUnder('filters', Object.keys(filterProtocols)),
}

export const FPOLICY_ENGINE: Spelled<'protocols/fpolicy/{svm.uuid}/engines'> = {
  engine_name: 'name',
  extern_engine_type: 'type',
  certificate_common_name: 'certificate.name',
  certificate_serial: 'certificate.serial_number',
  max_server_reqs: 'max_server_requests',
  recv_buffer_size: 'buffer_size.recv_buffer',
  send_buffer_size: 'buffer_size.send_buffer',
  is_resiliency_enabled: 'resiliency.enabled',
  resiliency_directory_path: 'resiliency.directory_path',
}

export const FPOLICY_POLICY: Spelled<'protocols/fpolicy/{svm.uuid}/policies'> = {
  policy_name: 'name',
  engine: 'engine.name',
  events: namesIn('events'),
  is_mandatory: 'mandatory',
  is_passthrough_read_enabled: 'passthrough_read',
  privileged_user_name: 'privileged_user',
}

const LISTS = {
  shares_to_include: 'scope.include_shares',
  shares_to_exclude: 'scope.exclude_shares',
  volumes_to_include: 'scope.include_volumes',
  volumes_to_exclude: 'scope.exclude_volumes',
  export_policies_to_include: 'scope.include_export_policies',
  export_policies_to_exclude: 'scope.exclude_export_policies',
  file_extensions_to_include: 'scope.include_extension',
  file_extensions_to_exclude: 'scope.exclude_extension',
} as const

const CHECKS = {
  is_file_extension_check_on_directories_enabled: 'scope.check_extensions_on_directories',
  is_monitoring_of_objects_with_no_extension_enabled: 'scope.object_monitoring_with_no_extension',
} as const

const check = <const Path extends string>(path: Path): Phrase<Path> => ({
  from: [path],
  kind: flag(),
  show: (at) => at(path) ?? false,
  read: (given) => ({ [path]: given }),
})

export const FPOLICY_SCOPE: Spelled<'protocols/fpolicy/{svm.uuid}/policies'> = {
  policy_name: 'name',
  ...Object.fromEntries(Object.entries(LISTS).map(([name, path]) => [name, whole(path)])),
  // The command line always says whether, where records have only what was said.
  ...Object.fromEntries(Object.entries(CHECKS).map(([name, path]) => [name, check(path)])),
  has_scope: { from: ['scope'], kind: flag(), show: (at) => at('scope') !== undefined },
}

/** A policy has one scope or none: making it says something of it, be it that nothing is checked. */
export const FPOLICY_SCOPE_PART: Part = {
  set: Object.fromEntries(Object.values(CHECKS).map((path) => [path, false])),
  clear: [...Object.values(LISTS), ...Object.values(CHECKS)],
}
