/** The texts of the golden files, by the name of the file. Nothing in them is listed by hand. */
import { listActions } from '../../src/core/action-list.ts'
import type { Behaviour, VerbName } from '../../src/core/behaviour.ts'
import { listEvents, listFailures } from '../../src/core/tables.ts'
import type { Verb } from '../../src/core/verb.ts'
import { allowedMethods } from '../../src/faces/requests/admission.ts'
import { commandTree } from '../../src/faces/cli/tree.ts'
import { builtinRoles, mayDo } from '../../src/model/access.ts'
import { registry } from '../../src/model/registry.ts'
import { release } from '../../src/model/release.ts'
import { behaviours } from '../../src/resources/index.ts'
import { findHandler } from '../../src/s3/operations/index.ts'
import { operations } from '../../src/s3/request/router.ts'

interface Endpoint {
  readonly method: string
  readonly path: string
  readonly since: string
}

export function goldenTexts(): Readonly<Record<string, string>> {
  return {
    endpoints: lines(endpoints().map(({ method, path, since }) => [method, path, since])),
    actions: lines(actions()),
    'job-steps': lines(jobSteps()),
    access: lines(access()),
    commands: lines(commands()),
    events: lines(events()),
    failures: lines(failures()),
    faces: lines(faces()),
    's3-operations': lines(s3Operations()),
  }
}

/** Each command, the resource that it is a spelling of, and the names that its records always have. */
function commands(): string[][] {
  const tree = commandTree(registry(behaviours.map(({ resource }) => resource)), release('9.16.1'))
  return [...tree].map(([command, { resource, names }]) => [
    command,
    resource.path,
    names.keys.map(([name]) => name).join(' '),
  ])
}

function endpoints(): Endpoint[] {
  return behaviours.flatMap((behaviour) => {
    const { resource } = behaviour
    const since = resource.since ?? '-'
    return [resource.path, ...resource.aliases].flatMap((path) => {
      const shapes = resource.isSingleton
        ? [{ path, isInstance: true }]
        : [
            { path, isInstance: false },
            { path: `${path}/${resource.key.map((key) => `{${key}}`).join('/')}`, isInstance: true },
          ]
      return shapes.flatMap((shape) =>
        allowedMethods(behaviour, shape.isInstance)
          .filter((method) => method !== 'HEAD' && method !== 'OPTIONS')
          .map((method) => ({ method, path: `/api${shape.path}`, since })),
      )
    })
  })
}

function jobSteps(): string[][] {
  return behaviours.flatMap((behaviour) =>
    Object.entries({ ...verbsOf(behaviour), ...behaviour.actions }).flatMap(([name, verb]) => {
      if (verb?.isJob !== true) return []
      const steps = verb.steps.map((step) => (step.undo === undefined ? step.name : `${step.name} (undone)`))
      return [[name, behaviour.resource.type, steps.join(' > ')]]
    }),
  )
}

function verbsOf({ create, modify, remove }: Behaviour): Record<VerbName, Verb | undefined> {
  return { create, modify, remove }
}

/** Each action: what it takes, what it can cost, how requests spell it, and what it does. */
function actions(): string[][] {
  return listActions(behaviours).map(({ behaviour, name, action, args, spellings }) => [
    behaviour.resource.type,
    name,
    action.danger,
    args.map(({ path, kind, isRequired }) => `${path}${isRequired ? '' : '?'}: ${kind.name}`).join(', ') || '-',
    spellings.join(', '),
    action.doc,
  ])
}

/** Each event by the number of its trap: what it carries, and what clears it. */
function events(): string[][] {
  return listEvents(behaviours)
    .toSorted(([, a], [, b]) => a.trap - b.trap)
    .map(([name, { trap, severity, message, parameters, clearedBy }]) => [
      String(trap),
      name,
      severity,
      Object.keys(parameters).join(' ') || '-',
      clearedBy ?? '-',
      message,
    ])
}

/** Each failure by its name: what faces make of it. */
function failures(): string[][] {
  return listFailures(behaviours)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { kind, code, errno, message }]) => [name, kind, code, String(errno), message])
}

/** What consoles show: the columns of each list, what a removal costs, the parts of each form. */
function faces(): string[][] {
  return behaviours.flatMap(({ resource, remove }) => {
    const { type, columns, form, removal } = resource
    const list = resource.isSingleton ? [] : [[type, 'list', columns.join(' ')]]
    const parts = Object.entries(form).map(([title, fields]) => [type, 'form', `${title}: ${fields.join(' ')}`])
    return list.concat(parts, remove === undefined ? [] : [[type, 'removal', removal]])
  })
}

/** Who may call what: one column for each role. */
function access(): string[][] {
  const roles = builtinRoles.map(({ name }) => name)
  const rows = endpoints().map(({ method, path }) =>
    builtinRoles.map((role): string => (mayDo(role, path, method) ? 'yes' : 'no')).concat(method, path),
  )
  return [[...roles, 'method', 'path'], ...rows]
}

function s3Operations(): string[][] {
  return operations.map((operation) => [
    operation.name,
    operation.method,
    operation.level,
    Object.entries(operation.query)
      .map(([key, value]) => (value === true ? key : `${key}=${value}`))
      .join('&') || '-',
    operation.action + (operation.versionAction === undefined ? '' : ` / ${operation.versionAction}`),
    operation.sourceAction ?? '-',
    findHandler(operation.name) === undefined ? 'answers 501' : 'served',
  ])
}

/** Columns of equal width, in the order given: what belongs together stands together. */
function lines(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
