/**
 * Commands of the command line over the records of FPolicy: the same rows, by the names that commands have for their
 * fields, addressed by the names of SVM and object. What they are asked becomes the verb of the record.
 */
import type { Acts, Behaviour } from '../../../../../core/behaviour.ts'
import type { Cluster } from '../../../../../core/cluster.ts'
import { resolveReferences } from '../../../../../core/references.ts'
import type { Verb, VerbRequest } from '../../../../../core/verb.ts'
import { failures } from '../../../../../model/failure.ts'
import { text } from '../../../../../model/kinds/index.ts'
import { completeDraft } from '../../../../../model/shape.ts'
import { type Row, textAt, type Value } from '../../../../../model/value.ts'

export interface Spelling {
  /** The type of the records. */
  readonly type: string
  /** The field that has their name on the command line. */
  readonly name: string
  /** A record as the command line shows it, without its SVM and name. */
  show(row: Row): Row
  /** What the command line gave, as fields of the record. */
  read(given: Row): Row
  /** Which records are shown; without it, all. */
  isShown?(row: Row): boolean
}

export const vserverField = {
  doc: 'The name of the SVM.',
  kind: text({ charactersMin: 1, charactersMax: 255 }),
  set: 'create',
  required: true,
} as const

export function rowsBy(spelling: Spelling): NonNullable<Acts['rows']> {
  return async (cluster) => {
    const svms = new Map((await cluster.rows('svm/svms')).map((svm) => [svm['uuid'], svm['name'] ?? null]))
    return (await cluster.rows(spelling.type))
      .filter((row) => spelling.isShown?.(row) ?? true)
      .map((row) => {
        const named = { vserver: svms.get(row['svm.uuid'] ?? null) ?? null, [spelling.name]: row['name'] ?? null }
        return Object.assign(named, spelling.show(row))
      })
  }
}

/** The record that a row of the command line shows. */
export async function recordOf(cluster: Cluster, spelling: Spelling, row: Row): Promise<Row> {
  const svm = await svmOf(cluster, row)
  return cluster.row(spelling.type, `${svm}/${textAt(row, spelling.name)}`)
}

async function svmOf(cluster: Cluster, given: Row): Promise<string> {
  const svm = await cluster.keyOfName('svm/svms', textAt(given, 'vserver'))
  if (svm === undefined) throw failures.notFound('SVM', 'vserver')
  return svm
}

/** The verbs of the records, called with what the command line gave. */
export function commandVerbs(
  spelling: Spelling,
  behaviour: Behaviour,
): Required<Pick<Acts, 'create' | 'modify' | 'remove'>> {
  return {
    create: spelled(spelling, verbOf(behaviour, 'create'), async (cluster, request) => {
      const svm = await svmOf(cluster, request.draft)
      const named = { name: textAt(request.draft, spelling.name), 'svm.uuid': svm }
      const draft = completeDraft(behaviour.resource, { ...spelling.read(request.draft), ...named })
      return { draft: await resolveReferences(cluster, behaviour.resource, draft), path: { 'svm.uuid': svm } }
    }),
    modify: spelled(spelling, verbOf(behaviour, 'modify'), async (cluster, request) => ({
      row: await recordOf(cluster, spelling, request.row ?? {}),
      draft: spelling.read(request.draft),
    })),
    remove: spelled(spelling, verbOf(behaviour, 'remove'), async (cluster, request) => ({
      row: await recordOf(cluster, spelling, request.row ?? {}),
    })),
  }
}

export function verbOf(behaviour: Behaviour, name: 'create' | 'modify' | 'remove'): Verb {
  const verb = behaviour[name]
  if (verb === undefined) throw new Error(`${behaviour.resource.type} has no ${name}.`)
  return verb
}

/** A verb of a record as one of the command line: the steps are about the record, the answer about what it is called. */
export function spelled(
  spelling: Spelling,
  verb: Verb,
  translate: (cluster: Cluster, request: VerbRequest) => Promise<Partial<VerbRequest>>,
): Verb {
  const { args: _args, example: _example, ...rest } = verb
  return {
    ...rest,
    async plan(cluster, request) {
      const planned = await verb.plan(cluster, { ...request, ...(await translate(cluster, request)) })
      const named = { ...request.row, ...request.draft }
      const key = `${textAt(named, 'vserver')}/${textAt(named, spelling.name)}`
      return { ...planned, key, input: { $key: planned.key, $input: planned.input } }
    },
    steps: verb.steps.map((step) => ({
      name: step.name,
      run: (cluster, work) =>
        step.run(cluster, { ...work, key: textAt(work.input, '$key'), input: work.input['$input'] as Row }),
    })),
  }
}

/** Fields that are the same but for their names. */
export function renamed(names: Readonly<Record<string, string>>): Pick<Spelling, 'show' | 'read'> {
  const entries = Object.entries(names)
  const pick = (row: Row, pairs: readonly (readonly [string, string])[]): Row =>
    Object.fromEntries(
      pairs.flatMap(([from, to]): [string, Value][] => {
        const value = row[from]
        return value === undefined ? [] : [[to, value]]
      }),
    )
  return {
    show: (row) =>
      pick(
        row,
        entries.map(([ours, theirs]) => [theirs, ours] as const),
      ),
    read: (given) => pick(given, entries),
  }
}
