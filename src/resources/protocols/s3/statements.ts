import { count, each, flag, list, oneOf, text } from '../../../model/kinds/index.ts'
import { nameCharactersMax } from '../../../s3/policy/statements.ts'

/**
 * Statements of a policy, in their order. The first fields are those that shipping systems have. The others are there so
 * that a policy which came by S3 can be read and written back, and is no wider for it. How long lists may be is not said
 * here: too many has an error code of its own.
 */
export function statementsKind() {
  return each({
    effect: {
      kind: oneOf({
        allow: 'Matching requests are allowed, unless another statement denies them.',
        deny: 'Matching requests are denied.',
      }),
      doc: 'Whether the statement allows or denies requests.',
      required: true,
    },
    principals: {
      kind: names,
      doc: 'The users, or groups as `group/<name>`, that the statement applies to. Default: all users. `*`: everyone, including anonymous callers.',
    },
    actions: {
      kind: names,
      doc: 'The actions that the statement applies to, such as `s3:GetObject`. `*` matches any text. Required without `not_actions`.',
    },
    resources: {
      kind: names,
      doc: 'The buckets and objects that the statement applies to: `arn:aws:s3:::<bucket>`, `arn:aws:s3:::<bucket>/*`, or either without the ARN prefix.',
    },
    sid: { kind: text(), doc: 'The name of the statement, up to 256 characters.' },
    conditions: { kind: conditionsKind(), doc: 'Conditions that a request must meet. All conditions must be met.' },
    not_principals: {
      kind: names,
      doc: 'The users and groups that a deny statement does not apply to. Replaces `principals`.',
    },
    not_actions: { kind: names, doc: 'The actions that the statement does not apply to. Replaces `actions`.' },
    not_resources: {
      kind: names,
      doc: 'The buckets and objects that the statement does not apply to. Replaces `resources`.',
    },
    is_literal: {
      kind: flag(),
      doc: 'Whether `${...}` in the statement is plain text, as in policies of the version 2008.',
    },
  })
}

const names = list(text({ charactersMin: 1, charactersMax: nameCharactersMax }))
const values = list(text({ charactersMax: nameCharactersMax }))

function conditionsKind() {
  return each({
    operator: {
      kind: text({ charactersMin: 1, charactersMax: 64 }),
      doc: 'The operator of the condition: `string_like`, `ip_address`, `numeric_less_than`, `bool` and others, or its name in Amazon’s policies.',
      required: true,
    },
    source_ips: { kind: values, doc: 'The addresses or subnets that a request may come from.' },
    usernames: { kind: values, doc: 'The users whose requests match.' },
    prefixes: { kind: values, doc: 'The prefixes that a listing may ask for.' },
    delimiters: { kind: values, doc: 'The delimiters that a listing may ask for.' },
    max_keys: { kind: list(count({ min: 0 })), doc: 'The numbers of keys that a listing may ask for.' },
    if_match: { kind: values, doc: 'The ETags that a conditional read or write may name.' },
    if_none_match: { kind: flag(), doc: 'Whether a write must be conditional on the object not existing.' },
    object_creation_operation: { kind: flag(), doc: 'Whether a request must create an object.' },
    key: {
      kind: text({ charactersMin: 1, charactersMax: 256 }),
      doc: 'Any other condition key, such as `aws:SecureTransport`.',
    },
    values: { kind: values, doc: 'The values that the condition key is compared with.' },
  })
}
