/**
 * Rows are printed by functions that are made once for a set of fields: one step for each field, and one for each object
 * around some. As text an object costs half of what it costs to make it and have `JSON.stringify` walk through it.
 */
import { isRecord, type Json, type Row, type Value } from './value.ts'

export interface PrintedField {
  readonly path: string
  readonly print: (value: Value) => Json
}

/** By the words of paths: what is printed of a field, and what comes below it. A field may be an object that others are below. */
export type Steps = Map<string, Step>

interface Step {
  field?: PrintedField
  below?: Steps
}

export function addStep(steps: Steps, [word = '', ...rest]: readonly string[], field: PrintedField): void {
  const step: Step = steps.get(word) ?? {}
  steps.set(word, step)
  if (rest.length === 0) step.field = field
  else addStep((step.below ??= new Map<string, Step>()), rest, field)
}

type Printed = Record<string, Json> | undefined

/** Makes the function that adds what a row has to an object, which is made when there is something to be in it. */
export function filling(steps: Steps): (row: Row, into: Printed) => Printed {
  const all = [...steps].map(([word, { field, below }]) => ({
    word,
    field,
    fill: below === undefined ? undefined : filling(below),
  }))
  return (row, into) => {
    let nested = into
    for (const { word, field, fill } of all) {
      if (field !== undefined) {
        const value = row[field.path]
        if (value !== undefined && value !== null) (nested ??= {})[word] = field.print(value)
      }
      if (fill === undefined) continue
      const before = nested?.[word]
      // What is printed of a field may be the row's own, which others read too.
      const inner = fill(row, isRecord(before) ? { ...(before as Record<string, Json>) } : undefined)
      if (inner !== undefined) (nested ??= {})[word] = inner
    }
    return nested
  }
}

/** Makes the function that writes the same as JSON, without the braces around it: '' when there is nothing. */
export function writing(steps: Steps): (row: Row) => string {
  const parts = [...steps].map(([word, step]) => memberOf(word, step))
  return (row) => {
    let text = ''
    for (const part of parts) {
      const member = part(row)
      if (member !== '') text += text === '' ? member : `,${member}`
    }
    return text
  }
}

function memberOf(word: string, { field, below }: Step): (row: Row) => string {
  const name = `${JSON.stringify(word)}:`
  if (field === undefined) {
    const write = writing(below ?? new Map<string, Step>())
    return (row) => {
      const inner = write(row)
      return inner === '' ? '' : `${name}{${inner}}`
    }
  }
  if (below !== undefined) {
    const fill = filling(new Map([[word, { field, below }]]))
    return (row) => JSON.stringify(fill(row, undefined) ?? {}).slice(1, -1)
  }
  const { path, print } = field
  // Most fields have the same value as in the record before, or as when this record was read before.
  let [last, text]: [Value | undefined, string] = [undefined, '']
  return (row) => {
    const value = row[path]
    if (value === undefined || value === null) return ''
    if (value === last) return text
    const written = name + JSON.stringify(print(value))
    if (typeof value !== 'object' && written.length <= KEPT_CHARACTERS_MAX) [last, text] = [value, written]
    return written
  }
}

/** Longer texts are not kept until the next record is written. */
const KEPT_CHARACTERS_MAX = 256
