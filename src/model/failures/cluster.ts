/** Failures of the cluster: licenses, schedules, NTP, counters and tags. */
import { errno } from './errno.ts'
import { badArgument, badValue, duplicate, inUse, invalid, notFound } from './forms.ts'

export const cluster = {
  scheduleNameTaken: duplicate('A schedule named "{name}"', 'name'),
  scheduleNameTakenByOtherType: duplicate('A schedule named "{name}"', 'name', { code: '459764' }),
  scheduleCronAndInterval: invalid(
    'interval',
    'A schedule has either a cron or an interval.',
    'Give cron or interval.',
    { code: '459760' },
  ),
  scheduleIntervalTooShort: invalid(
    'interval',
    'An interval is one minute (PT1M) or longer.',
    'Choose a longer interval.',
    { code: '459760' },
  ),
  scheduleMinutesMissing: invalid(
    'cron.minutes',
    'A cron schedule needs minutes; an empty list means every minute.',
    'Give cron.minutes.',
    { code: '459760' },
  ),
  scheduleNeverDue: invalid('cron.days', 'None of these months has such a day.', 'Choose days that the months have.', {
    code: '459760',
  }),
  importRefused: invalid('text', '{problem}', 'Correct the text.'),
  clusterNotFound: notFound('cluster'),
  // Tools that poll counters tell by this code that there is nothing to poll.
  counterTableNotFound: notFound('counter table', 'name', { code: '8585320' }),
  jobActionUnknown: badArgument('action', 'it takes one of {actions}.', 'Choose one of the actions.'),
  licenseRefused: invalid(
    'keys',
    'Failed to install the license at index {index}: {problem}. Send the contents of a license file.',
    'Send the contents of a license file.',
    { code: '1115117' },
  ),
  licenseKeysMissing: badValue('keys', 'it needs at least one.', 'Give at least one license.'),
  licenseLimitReached: invalid('keys', 'The cluster has {max} licenses, which is the limit.', 'Delete licenses first.'),
  licenseNotFound: notFound('A license of {name} with that serial number', 'name'),
  clusterCertificateUnfit: invalid(
    'certificate',
    'The certificate must belong to the cluster and have the type "server".',
    'Name a certificate of the cluster, of the type "server".',
  ),
  ntpKeyInUse: inUse(
    undefined,
    'The server "{server}" uses the key. Give the server another key first.',
    'Give the server another key first.',
  ),
  ntpKeyMalformed: badValue('value', 'it takes 40 hexadecimal digits.', 'Send 40 hexadecimal digits.'),
  ntpKeyNotFound: invalid('key.id', 'There is no NTP key {id}. Make it first.', 'Make the key first.', {
    code: '262185',
    errno: errno.objectNotFound,
  }),
  scheduleNotFound: notFound('schedule'),
  scheduleOfOtherCluster: invalid(
    'cluster.name',
    'A schedule can only be created on its own cluster.',
    'Leave the cluster out.',
    { code: '459763' },
  ),
  scheduleOfSnapshotPolicy: inUse(
    undefined,
    'The snapshot policy "{policy}" uses the schedule. Remove it from the policy first.',
    'Remove the schedule from the snapshot policy first.',
    { code: '459758' },
  ),
  scheduleInUse: inUse(
    undefined,
    'The {noun} "{name}" uses the schedule. Give the {noun} another schedule first.',
    'Give what uses the schedule another one first.',
    { code: '459758' },
  ),
  intervalUnknown: badArgument('interval', 'it takes one of {intervals}.', 'Choose one of the intervals.'),
  tagTaken: duplicate('The tag "{tag}" of {href}', 'href'),
  tagTargetUnfit: badValue(
    'href',
    'it is not the path of a thing that has tags.',
    'Give the path of a record that has tags.',
  ),
  tagTargetMissing: badValue('href', 'there is nothing at this path.', 'Give the path of a record that exists.'),
  tagTargetEscape: badValue('href', 'it has an invalid escape.', 'Escape the path as RFC 3986 says.'),
} as const
