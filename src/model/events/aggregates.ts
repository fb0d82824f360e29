/** Events of aggregates, and of damage to what they store. */
import type { EventEntry } from './entry.ts'

export const aggregates = {
  'aggregate.created': {
    severity: 'notice',
    message: 'An aggregate was created.',
    action: 'None.',
    parameters: { aggregate: 'text' },
    trap: 200,
  },
  'aggregate.renamed': {
    severity: 'notice',
    message: 'An aggregate was renamed.',
    action: 'None.',
    parameters: { aggregate: 'text' },
    trap: 201,
  },
  'aggregate.deleted': {
    severity: 'notice',
    message: 'An aggregate was deleted. Its folder can be used again.',
    action: 'None.',
    parameters: { aggregate: 'text' },
    trap: 202,
  },
  'object.damaged': {
    severity: 'alert',
    message: 'A stored object is damaged. Reads of it fail until it is repaired, replaced or deleted.',
    action: 'Replace the object from a copy, or delete it.',
    parameters: { kind: 'text', file: 'text', volume: 'text', bucket: 'text', key: 'text', version: 'text' },
    trap: 203,
    clearedBy: 'object.repaired',
  },
  'object.repaired': {
    severity: 'notice',
    message: 'A damaged object was repaired from another object with the same bytes.',
    action: 'None.',
    parameters: { file: 'text', volume: 'text', bucket: 'text', key: 'text', version: 'text' },
    trap: 204,
  },
  'volume.pack.misread': {
    severity: 'error',
    message: 'A file of small objects has damaged marks. No object is damaged; the file is rewritten.',
    action: 'Check the disk of the aggregate.',
    parameters: { tree: 'text', marks: 'count' },
    trap: 205,
  },
  'volume.file.unexpected': {
    severity: 'error',
    message: 'A file, or damaged bytes of a file, that no object needs was found in a volume.',
    action: 'Look at the file. A scrub can set it aside.',
    parameters: { kind: 'text', file: 'text', volume: 'text', bucket: 'text', key: 'text', version: 'text' },
    trap: 206,
  },
  'aggregate.scrub.ended': {
    severity: 'informational',
    message: 'A scrub of an aggregate is complete.',
    action: 'Look at the damage that the scrub found, if any.',
    parameters: {
      aggregate: 'text',
      examined: 'count',
      examined_size: 'bytes',
      damaged: 'count',
      unexpected: 'count',
      set_aside: 'count',
      upgraded: 'count',
    },
    trap: 207,
  },
} as const satisfies Readonly<Record<string, EventEntry>>
