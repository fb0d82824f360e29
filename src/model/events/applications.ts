/** Events of SVMs, and of applications on them and beside them. */
import type { EventEntry } from './entry.ts'

/** What an application says of an event. */
const said = {
  computer_name: 'text?',
  event_source: 'text?',
  app_version: 'text?',
  event_id: 'text?',
  category: 'text?',
  event_description: 'text?',
} as const

export const applications = {
  'app.log.emerg': {
    severity: 'emergency',
    message: 'An application reported an emergency.',
    action: 'Look at the application that logged it.',
    parameters: { ...said },
    trap: 500,
  },
  'app.log.alert': {
    severity: 'alert',
    message: 'An application reported an alert.',
    action: 'Look at the application that logged it.',
    parameters: { ...said },
    trap: 501,
  },
  'app.log.err': {
    severity: 'error',
    message: 'An application reported an error.',
    action: 'Look at the application that logged it.',
    parameters: { ...said },
    trap: 502,
  },
  'app.log.notice': {
    severity: 'notice',
    message: 'An application reported a notice.',
    action: 'None.',
    parameters: { ...said },
    trap: 503,
  },
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
