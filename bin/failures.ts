/** Why a command cannot do its work, in one sentence for whoever called it: no stack, no usage. */
export class StartFailure extends Error {}

/** The first line of what went wrong, as a part of a sentence. */
export function reasonOf(failure: unknown): string {
  const text = failure instanceof Error ? failure.message : String(failure)
  return text.split('\n', 1)[0]?.trim() ?? ''
}
