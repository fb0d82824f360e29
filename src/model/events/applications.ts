/** Events of SVMs and of what applications they serve. */
import type { EventEntry } from './entry.ts'

export const applications = {
  'application.created': {
    severity: 'notice',
    message: 'An application and its volumes were created.',
    action: 'None.',
    parameters: { application: 'text' },
    trap: 504,
  },
  'application.deleted': {
    severity: 'notice',
    message: 'An application was deleted.',
    action: 'None.',
    parameters: { application: 'text' },
    trap: 505,
  },
  'application.consistency_group.created': {
    severity: 'notice',
    message: 'A consistency group was created.',
    action: 'None.',
    parameters: { group: 'text' },
    trap: 506,
  },
  'application.consistency_group.deleted': {
    severity: 'notice',
    message: 'A consistency group was deleted.',
    action: 'None.',
    parameters: { group: 'text' },
    trap: 507,
  },
  'svm.created': {
    severity: 'notice',
    message: 'An SVM was created.',
    action: 'None.',
    parameters: { svm: 'text' },
    trap: 508,
  },
  'svm.deleted': {
    severity: 'notice',
    message: 'An SVM was deleted.',
    action: 'None.',
    parameters: { svm: 'text' },
    trap: 509,
  },
} as const satisfies Readonly<Record<string, EventEntry>>
