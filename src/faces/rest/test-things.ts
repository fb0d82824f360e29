/** A resource for tests of the interface's grammar: a record with a field of every kind, and plain verbs. */
import { type Behaviour, define } from '../../core/behaviour.ts'
import { plainVerbs } from '../../core/plain.ts'
import {
  bytes,
  count,
  decimal,
  duration,
  each,
  flag,
  group,
  list,
  name,
  oneOf,
  secret,
  text,
  time,
  uuid,
} from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { startTestCluster, type TestCluster, type TestClusterOptions } from '../../../test/support/cluster.ts'

export const THINGS = '/api/test/things'
export const THING_TYPE = 'test/things'

const place = group({
  name: { kind: name(), doc: 'The name of the place.' },
  floor: { kind: count(), doc: 'How high it is.' },
})

const thingsResource = resource({
  path: '/test/things',
  noun: 'thing',
  doc: 'Things.',
  key: ['uuid'],
  nameWithin: false,
  fields: {
    uuid: { doc: 'Its UUID.', kind: uuid(), set: 'create' },
    name: { doc: 'Its name.', kind: name(), set: 'always', required: true },
    comment: { doc: 'Free text.', kind: text(), set: 'always' },
    state: {
      doc: 'How it is.',
      kind: oneOf({ online: 'On.', offline: 'Off.', restricted: 'Neither.' }),
      set: 'always',
      default: 'online',
    },
    enabled: { doc: 'Whether it is on.', kind: flag(), set: 'always' },
    size: { doc: 'Its size.', kind: bytes(), set: 'always' },
    ratio: { doc: 'A ratio.', kind: decimal(), set: 'always' },
    made: { doc: 'When it was made.', kind: time(), set: 'always' },
    period: { doc: 'How often.', kind: duration(), set: 'always' },
    'space.used': { doc: 'Used.', kind: bytes(), set: 'always' },
    'space.limit.files': { doc: 'Files at most.', kind: count(), set: 'always' },
    labels: { doc: 'Labels.', kind: list(text()), set: 'always' },
    numbers: { doc: 'Numbers.', kind: list(count()), set: 'always' },
    parts: {
      doc: 'Its parts.',
      kind: each({
        name: { kind: name(), doc: 'The name of the part.' },
        count: { kind: count(), doc: 'How many.' },
        place: { kind: place, doc: 'Where it is.' },
      }),
      set: 'always',
    },
    owner: { doc: 'Whose it is.', ref: 'svm/svms', set: 'always' },
    aggregates: { doc: 'Where it lies.', refs: 'storage/aggregates', set: 'always' },
    passphrase: { doc: 'A secret.', kind: secret(), set: 'always' },
    detail: { doc: 'What is dear to find out.', kind: text(), set: 'always', isExpensive: true },
    later: { doc: 'New.', kind: text(), set: 'always', since: '9.16.1' },
  },
})

export const things: Behaviour<typeof thingsResource> = define(thingsResource, plainVerbs(thingsResource.type))

export const NATIVE = { headers: { 'x-dot-client-app': 'grammar' } }

export function startThings(options: TestClusterOptions = {}): Promise<TestCluster> {
  return startTestCluster({ extra: [things], ...options })
}
