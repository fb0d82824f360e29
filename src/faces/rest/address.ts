/** What an address may be: bounded, and without secrets, which logs on the way would keep. */
import { failure } from '../../model/failure.ts'

const TARGET_CHARACTERS_MAX = 16 * 1024

export function insistOnAddress(target: string): void {
  if (target.length > TARGET_CHARACTERS_MAX) throw failure('addressTooLong')
}

/** Of the names in the query. */
export function insistOnNoSecret(names: { has(name: string): boolean }): void {
  if (names.has('password') || names.has('secret_key')) throw failure('secretInAddress')
}
