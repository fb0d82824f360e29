import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { inline } from '../../../core/verb.ts'
import { flag, oneOf, text, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import type { RowOf } from '../../../model/rows.ts'
import { type Row, textOf } from '../../../model/value.ts'

export const LOGIN_MESSAGES = 'security/login/messages'

const MESSAGE_CHARACTERS_MAX = 2048

const loginMessagesResource = resource({
  path: '/security/login/messages',
  noun: 'login message',
  doc: 'Login messages of the cluster and of SVMs. Stored without effect: there is no shell yet.',
  key: ['uuid'],
  parent: 'svm.uuid',
  nameWithin: false,
  order: [
    { path: 'scope', isDescending: false },
    { path: 'svm.name', isDescending: false },
  ],
  fields: {
    uuid: { doc: 'The UUID of the SVM, or of the cluster.', kind: uuid() },
    svm: { doc: 'The SVM of the login message.', ref: 'svm/svms' },
    scope: {
      doc: 'Whether the message is for an SVM or for the cluster.',
      kind: oneOf({ cluster: 'The message is for the cluster.', svm: 'The message is for an SVM.' }),
    },
    banner: {
      doc: 'The text shown before the login.',
      kind: text({ charactersMax: MESSAGE_CHARACTERS_MAX }),
      set: 'modify',
    },
    message: {
      doc: 'The text shown after the login.',
      kind: text({ charactersMax: MESSAGE_CHARACTERS_MAX }),
      set: 'modify',
    },
    show_cluster_message: {
      doc: 'Whether the message of the cluster is shown before the message of the SVM.',
      kind: flag(),
      set: 'modify',
    },
  },
})

export const loginMessages: Behaviour<typeof loginMessagesResource> = define(loginMessagesResource, {
  rows,
  modify: inline({
    example: { banner: 'Authorized users only.' },
    plan(_cluster, { row, draft }) {
      const key = row['uuid']
      return Promise.resolve({ key, input: { ...draft }, locks: [`${LOGIN_MESSAGES}:${key}`] })
    },
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        const before = (await cluster.find(LOGIN_MESSAGES, key)) ?? (await isOfSvm(cluster, key))
        await cluster.commit([cluster.put(LOGIN_MESSAGES, { ...before, ...input })])
      },
    },
  }),
})

async function isOfSvm(cluster: Cluster, key: string): Promise<RowOf<typeof LOGIN_MESSAGES>> {
  const isSvm = (await cluster.find('svm/svms', key)) !== undefined
  return { uuid: key, ...(isSvm ? { 'svm.uuid': key } : {}) }
}

async function rows(cluster: Cluster): Promise<Row[]> {
  const set = new Map((await cluster.rows(LOGIN_MESSAGES)).map((row) => [row['uuid'], row]))
  const of = (uuid: Row[string] | undefined, fields: Row): Row => ({
    show_cluster_message: true,
    ...set.get(textOf(uuid)),
    uuid: uuid ?? '',
    ...fields,
  })
  const [self] = await cluster.rows('cluster')
  const svms = await cluster.rows('svm/svms')
  return [
    of(self?.['uuid'], { scope: 'cluster' }),
    ...svms.map((svm) => of(svm['uuid'], { scope: 'svm', 'svm.uuid': svm['uuid'] ?? '' })),
  ]
}
