import { count, each, flag, list, oneOf, text } from '../../../model/kinds/index.ts'
import type { Kind } from '../../../model/kinds/index.ts'
import { nameCharactersMax } from '../../../s3/policy/statements.ts'

/**
 * Statements of a policy, in their order. The first fields are those that shipping systems have. The others are there so
 * that a policy which came by S3 can be read and written back, and is no wider for it. How long lists may be is not said
 * here: too many has an error code of its own.
 */
export function statementsKind(): Kind {
  return each({
    effect: { kind: oneOf('allow', 'deny'), doc: 'Whether it grants or refuses.', required: true },
    principals: {
      kind: names,
      doc: 'Users, or groups as `group/<name>`, that it is about. Without them: all users; `*`: anybody.',
    },
    actions: {
      kind: names,
      doc: 'What it is about, such as `s3:GetObject`; `*` stands for any text. Required without `not_actions`.',
    },
    resources: {
      kind: names,
      doc: 'Buckets and objects: `arn:aws:s3:::<bucket>`, `arn:aws:s3:::<bucket>/*`, or the same without the ARN.',
    },
    sid: { kind: text(), doc: 'A name for the statement, of at most 256 characters.' },
    conditions: { kind: conditionsKind(), doc: 'What has to hold of the request. All of them have to.' },
    not_principals: { kind: names, doc: 'In place of principals, of a denial: it is about everyone but these.' },
    not_actions: { kind: names, doc: 'In place of actions: it is about all but these.' },
    not_resources: { kind: names, doc: 'In place of resources: it is about all but these.' },
    is_literal: { kind: flag(), doc: 'Whether `${...}` in it is plain text, as in policies of 2008.' },
  })
}

const names = list(text({ charactersMin: 1, charactersMax: nameCharactersMax }))
const values = list(text({ charactersMax: nameCharactersMax }))

function conditionsKind(): Kind {
  return each({
    operator: {
      kind: text({ charactersMin: 1, charactersMax: 64 }),
      doc: 'How it compares: `string_like`, `ip_address`, `numeric_less_than`, `bool`, …, or as in Amazon’s policies.',
      required: true,
    },
    source_ips: { kind: values, doc: 'Addresses or subnets that the request comes from.' },
    usernames: { kind: values, doc: 'Users who ask.' },
    prefixes: { kind: values, doc: 'The prefix of a listing.' },
    delimiters: { kind: values, doc: 'The delimiter of a listing.' },
    max_keys: { kind: list(count({ min: 0 })), doc: 'How many keys a listing asks for.' },
    if_match: { kind: values, doc: 'The ETag that a write or read is conditional on.' },
    if_none_match: { kind: flag(), doc: 'Whether a write is conditional on there being no object.' },
    object_creation_operation: { kind: flag(), doc: 'Whether the request makes an object.' },
    key: { kind: text({ charactersMin: 1, charactersMax: 256 }), doc: 'Any other key, such as `aws:SecureTransport`.' },
    values: { kind: values, doc: 'What that key is compared with.' },
  })
}
