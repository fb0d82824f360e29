import type { RefusalReason } from '../ports/catalog.ts'

/** A change does not hold. The writer adds which change of the commit it was. */
export class Refusal extends Error {
  readonly reason: RefusalReason
  readonly scope: string

  constructor(reason: RefusalReason, scope: string) {
    super(reason)
    this.name = 'Refusal'
    this.reason = reason
    this.scope = scope
  }
}

export function refuse(reason: RefusalReason, scope = ''): never {
  throw new Refusal(reason, scope)
}
