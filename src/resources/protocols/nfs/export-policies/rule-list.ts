/**
 * The rules of an export policy, in the order of their index. The first whose clients fit decides. Indexes may have
 * gaps: a rule that comes to a taken index moves that one up, and those after it up to the next gap.
 */
import { failure } from '../../../../model/failure.ts'
import { count, each, flag, list, oneOf, text } from '../../../../model/kinds/index.ts'
import { asMembers, defaultsOf } from '../../../../model/fields-below.ts'
import type { ValueOf } from '../../../../model/kinds/index.ts'
import type { Fields } from '../../../../model/resource.ts'
import type { DraftOf } from '../../../../model/rows.ts'
import { namesOf } from '../../../../model/value.ts'
import { CLIENT_CHARACTERS_MAX, checkClients } from './client-match.ts'

/** Rules of one policy, and clients of one rule. */
const RULES_MAX = 1024
const CLIENTS_MAX = 1024
const INDEX_MAX = 2 ** 31 - 1

const flavors = () =>
  list(
    oneOf({
      any: 'Any authentication.',
      none: 'No authentication: the client acts as the anonymous user.',
      never: 'No access, whatever the authentication.',
      krb5: 'Kerberos 5.',
      krb5i: 'Kerberos 5 with integrity checks.',
      krb5p: 'Kerberos 5 with encryption.',
      ntlm: 'NTLM, for SMB clients.',
      sys: 'The user ID that the client sends.',
    }),
    { elementsMax: 8 },
  )

/** What a rule has beside its index. */
export const ruleFields = {
  clients: {
    doc: 'The clients that the rule matches: hosts, addresses, networks, domains and netgroups.',
    kind: each(
      {
        match: {
          kind: text({ charactersMin: 1, charactersMax: CLIENT_CHARACTERS_MAX }),
          doc: 'A client: a host name, an IP address, a network, a domain that begins with ".", or a netgroup after "@".',
          required: true,
        },
      },
      { elementsMax: CLIENTS_MAX },
    ),
    set: 'always',
    required: true,
  },
  protocols: {
    doc: 'The protocols that the rule matches.',
    kind: list(
      oneOf({
        any: 'Every protocol.',
        nfs: 'NFS of any version.',
        nfs3: 'NFS version 3.',
        nfs4: 'NFS version 4.',
        cifs: 'SMB.',
        flexcache: 'FlexCache.',
        s3: 'S3.',
      }),
      { elementsMax: 8 },
    ),
    set: 'always',
    default: ['any'],
  },
  ro_rule: { doc: 'The authentication that clients need to read.', kind: flavors(), set: 'always', required: true },
  rw_rule: { doc: 'The authentication that clients need to write.', kind: flavors(), set: 'always', required: true },
  superuser: {
    doc: 'The authentication with which the user root keeps the rights of root.',
    kind: flavors(),
    set: 'always',
    default: ['none'],
  },
  anonymous_user: {
    doc: 'The user name or user ID of clients that do not authenticate.',
    kind: text({ charactersMin: 1, charactersMax: 256 }),
    set: 'always',
    default: '65534',
  },
  ntfs_unix_security: {
    doc: 'How changes of UNIX permissions on files with NTFS permissions are handled.',
    kind: oneOf({ fail: 'The change fails.', ignore: 'The change is ignored.' }),
    set: 'always',
    default: 'fail',
    since: '9.9.1',
  },
  chown_mode: {
    doc: 'The users who may change the owner of a file.',
    kind: oneOf({ restricted: 'Only root.', unrestricted: 'The owner, too.' }),
    set: 'always',
    default: 'restricted',
    since: '9.9.1',
  },
  allow_suid: {
    doc: 'Whether the set-user-ID bit is honored.',
    kind: flag(),
    set: 'always',
    default: true,
    since: '9.9.1',
  },
  allow_device_creation: {
    doc: 'Whether clients may create device files.',
    kind: flag(),
    set: 'always',
    default: true,
    since: '9.9.1',
  },
} as const satisfies Fields

export const indexKind = () => count({ min: 1, max: INDEX_MAX })

/** The rules as a field of their policy. */
export const rulesKind = () =>
  each(
    { index: { kind: indexKind(), doc: 'The position of the rule in the policy.' }, ...asMembers(ruleFields) },
    { elementsMax: RULES_MAX },
  )

/** A rule as it is given, or lies in the record of its policy. There it has an index. */
export type ExportRule = ValueOf<ReturnType<typeof rulesKind>>[number]

export function rulesOf(policy: DraftOf<'protocols/nfs/export-policies'> | undefined): readonly ExportRule[] {
  return policy?.['rules'] ?? []
}

/** A whole list as it was given: complete, checked, in order. Those without an index come after the one before. */
export function settledRules(given: readonly ExportRule[]): readonly ExportRule[] {
  let rules: readonly ExportRule[] = []
  for (const rule of given) rules = withRule(rules, rule).rules
  return rules
}

/** Adds a rule at its index, or behind the others. */
export function withRule(
  rules: readonly ExportRule[],
  draft: ExportRule,
): { rules: readonly ExportRule[]; index: number } {
  if (rules.length >= RULES_MAX) {
    throw failure('exportRuleLimitReached', { max: RULES_MAX })
  }
  const index = draft.index ?? indexOf(rules.at(-1)) + 1
  const rule = settledRule({ ...draft, index })
  if (rules.some((other) => isSame(other, rule))) {
    throw failure('exportRuleTaken')
  }
  return { rules: placed(rules, rule), index }
}

/** Changes the rule at an index, and may bring it to another. */
export function changedRule(
  rules: readonly ExportRule[],
  index: number,
  draft: Partial<ExportRule>,
  newIndex: number,
): readonly ExportRule[] {
  const before = rules.find((rule) => rule.index === index)
  if (before === undefined) throw failure('exportRuleNotFound')
  const others = rules.filter((rule) => rule !== before)
  const rule = settledRule({ ...before, ...draft, index: newIndex })
  if (others.some((other) => isSame(other, rule))) {
    throw failure('exportRuleTaken')
  }
  return placed(others, rule)
}

function placed(rules: readonly ExportRule[], rule: ExportRule): readonly ExportRule[] {
  const list: ExportRule[] = []
  let next = indexOf(rule)
  for (const other of rules) list.push(other.index === next ? { ...other, index: ++next } : other)
  return [...list, rule].toSorted((a, b) => indexOf(a) - indexOf(b))
}

const indexOf = (rule: ExportRule | undefined) => rule?.index ?? 0

function settledRule(rule: ExportRule): ExportRule {
  const complete: ExportRule = { ...defaultsOf(ruleFields), ...rule }
  for (const name of namesOf(ruleFields)) {
    const given = complete[name]
    if (Array.isArray(given) && given.length === 0) throw failure('exportRuleListEmpty', { field: name })
  }
  checkClients(complete.clients.map(({ match }) => match))
  return complete
}

function isSame(a: ExportRule, b: ExportRule): boolean {
  return namesOf(ruleFields).every((name) => JSON.stringify(a[name]) === JSON.stringify(b[name]))
}
