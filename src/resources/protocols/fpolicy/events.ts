import { type Behaviour, define } from '../../../core/behaviour.ts'
import { plainVerbs, plainRemove } from '../../../core/plain.ts'
import { failure } from '../../../model/failure.ts'
import { groups, resource } from '../../../model/resource.ts'
import { flag, oneOf } from '../../../model/kinds/index.ts'
import { fieldsBelow } from '../../../model/fields-below.ts'
import type { NewOf } from '../../../model/rows.ts'
import { namesOf } from '../../../model/value.ts'
import { insistOnFree, partFields, partOfSvm } from './names.ts'
import { filterProtocols, filterOperations, type Operation, operationProtocols } from './watchable.ts'

export const FPOLICY_EVENTS = 'protocols/fpolicy/{svm.uuid}/events'

/** Releases that brought what is younger than the rest. */
const SINCE: Readonly<Partial<Record<Operation, string>>> = { access: '9.13.1' }

const plain = plainVerbs(FPOLICY_EVENTS, {
  example: { name: 'event_example', protocol: 'cifs', file_operations: { open: true, rename: true } },
  check(_cluster, row) {
    checkCombination(row)
    return row
  },
})

const fpolicyEventsResource = resource({
  ...partOfSvm(FPOLICY_EVENTS),
  noun: 'FPolicy event',
  doc: 'FPolicy events select operations on files over one protocol. Stored without effect: files are not served yet.',
  fields: {
    ...groups({
      file_operations: 'The file operations that the event watches.',
      filters: 'Conditions that a file operation must meet.',
    }),
    ...partFields('event'),
    protocol: {
      doc: 'The file protocol of the operations.',
      kind: oneOf({ cifs: 'SMB.', nfsv3: 'NFSv3.', nfsv4: 'NFSv4.' }),
      set: 'always',
    },
    volume_monitoring: {
      doc: 'Whether mounts of volumes are reported.',
      kind: flag(),
      set: 'always',
      default: false,
    },
    monitor_fileop_failure: {
      doc: 'Whether refused operations are reported.',
      kind: flag(),
      set: 'always',
      default: false,
      since: '9.13.1',
    },
    ...fieldsBelow('file_operations', namesOf(operationProtocols), (name) => ({
      doc: `Whether the event includes the operation "${name.replaceAll('_', ' ')}".`,
      kind: flag(),
      set: 'always',
      ...(SINCE[name] === undefined ? {} : { since: SINCE[name] }),
    })),
    ...fieldsBelow('filters', namesOf(filterProtocols), (name) => ({
      doc: `Whether the event is limited to: ${name.replaceAll('_', ' ')}.`,
      kind: flag(),
      set: 'always',
    })),
  },
})

export const fpolicyEvents: Behaviour<typeof fpolicyEventsResource> = define(fpolicyEventsResource, {
  ...plain,
  remove: plainRemove(FPOLICY_EVENTS, {
    inUse: ({ name }) => failure('fpolicyEventInUse', { policy: name }),
  }),
  create: insistOnFree(plain.create, FPOLICY_EVENTS),
})

/** Not every protocol has every operation, and not every filter says something about it. */
function checkCombination(row: NewOf<typeof FPOLICY_EVENTS>): void {
  const { protocol } = row
  const operations = namesOf(operationProtocols).filter((name) => row[`file_operations.${name}`] === true)
  const filters = namesOf(filterProtocols).filter((name) => row[`filters.${name}`] === true)
  if (protocol === undefined) {
    if (operations.length + filters.length === 0) return
    throw failure('fpolicyProtocolMissing')
  }
  if (operations.length === 0) {
    throw failure('fpolicyOperationMissing')
  }
  for (const name of operations) {
    if (operationProtocols[name].includes(protocol)) continue
    throw failure('fpolicyOperationUnknown', { protocol, name })
  }
  for (const name of filters) {
    if (!filterProtocols[name].includes(protocol)) {
      throw failure('fpolicyFilterUnknown', { protocol, name })
    }
    const about = filterOperations[name]
    if (about !== undefined && !about.some((operation) => operations.includes(operation))) {
      throw failure('fpolicyFilterNeedless', { name })
    }
  }
}
