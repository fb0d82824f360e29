import { each, list, oneOf, text } from '../../../model/kinds/index.ts'
import type { Kind } from '../../../model/kinds/index.ts'

/** Statements of one policy. */
const STATEMENTS_MAX = 64
/** Entries of one list in a statement. */
const ENTRIES_MAX = 64

/** Statements of a policy, in their order. */
export function statementsKind(options: { readonly withPrincipals: boolean }): Kind {
  const words = list(text({ charactersMin: 1, charactersMax: 1024 }), { elementsMax: ENTRIES_MAX })
  return each(
    {
      effect: { kind: oneOf('allow', 'deny'), doc: 'Whether it grants or refuses.', required: true },
      ...(options.withPrincipals
        ? { principals: { kind: words, doc: 'Users it is about. Without them: all users; `*`: anybody.' } }
        : {}),
      actions: {
        kind: words,
        doc: 'What it is about, such as `s3:GetObject`; `*` stands for any text.',
        required: true,
      },
      resources: {
        kind: words,
        doc: 'Buckets and objects: `arn:aws:s3:::<bucket>`, `arn:aws:s3:::<bucket>/*`, or the same without the ARN.',
      },
      sid: { kind: text({ charactersMax: 256 }), doc: 'A name for the statement.' },
    },
    { elementsMax: STATEMENTS_MAX },
  )
}
