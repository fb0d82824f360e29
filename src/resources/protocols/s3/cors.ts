import { failure } from '../../../model/failure.ts'
import { count, each, list, text } from '../../../model/kinds/index.ts'
import type { ValueOf } from '../../../model/kinds/index.ts'
import { corsMethods, corsRuleOfRow } from '../../../records/cors-rules.ts'
import { stored } from '../../../records/stored.ts'
import { corsBytesMax, corsRuleProblem, corsRulesMax } from '../../../s3/config/cors.ts'

/** One rule may hold nearly all that a document may. */
const WORDS_MAX = 4096
const words = list(text({ charactersMin: 1, charactersMax: 1024 }), { elementsMax: WORDS_MAX })

export function corsKind() {
  return each({
    id: { kind: text({ charactersMax: 255 }), doc: 'The name of the CORS rule.' },
    allowed_origins: {
      kind: words,
      doc: 'The origins of web pages that may send requests. One `*` in an origin matches any text.',
      required: true,
    },
    allowed_methods: {
      kind: words,
      doc: `The methods that web pages may use: ${corsMethods.join(', ')}.`,
      required: true,
    },
    allowed_headers: { kind: words, doc: 'The headers that web pages may send. One `*` in a header matches any text.' },
    expose_headers: { kind: words, doc: 'The response headers that web pages may read.' },
    max_age_seconds: {
      kind: count({ min: 0, max: 2 ** 31 - 1, unit: 'seconds' }),
      doc: 'How long a browser may cache the response to a preflight request, in seconds.',
    },
  })
}

export function checkCorsRules(rows: ValueOf<ReturnType<typeof corsKind>> | undefined): void {
  // A change takes rules away by null.
  if (!Array.isArray(rows)) return
  if (rows.length > corsRulesMax || JSON.stringify(rows).length > corsBytesMax) {
    const limits = `${corsRulesMax} rules and ${corsBytesMax / 1024} KiB together`
    throw failure('tooManyCorsRules', { limits })
  }
  for (const rule of rows.map((row) => corsRuleOfRow(stored(row)))) {
    if (rule.allowedOrigins.length === 0 || rule.allowedMethods.length === 0) {
      throw failure('corsRuleIncomplete')
    }
    const problem = corsRuleProblem(rule)
    if (problem === undefined) continue
    const isOfMethod = rule.allowedMethods.some((method) => !corsMethods.includes(method))
    throw failure(isOfMethod ? 'corsMethodsUnfit' : 'corsHeadersUnfit', { problem })
  }
}
