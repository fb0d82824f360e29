import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { plainVerbs } from '../../core/plain.ts'
import { sealSecrets } from '../../core/sealed.ts'
import { failures } from '../../model/failure.ts'
import { flag, list, secret, text } from '../../model/kinds/index.ts'
import { type FieldDeclaration, resource } from '../../model/resource.ts'
import { type Row, textAt } from '../../model/value.ts'
import { choice, number, on } from '../protocols/setting.ts'

export const LDAP = 'name-services/ldap'

const SERVERS_MAX = 10

/** What clients of the interface know these failures by. */
const codes = { both: 4915203, neither: 4915229, tls: 4915248 } as const

const name = (doc: string, since?: string): FieldDeclaration => ({
  doc,
  kind: text({ charactersMax: 1024 }),
  set: 'always',
  ...(since === undefined ? {} : { since }),
})
const scope = (doc: string, since?: string) => choice(doc, ['subtree', 'base', 'onelevel'], since)
const servers = (doc: string): FieldDeclaration => ({
  doc,
  kind: list(text({ charactersMin: 1, charactersMax: 255 }), { elementsMax: SERVERS_MAX }),
  set: 'always',
})

const ldapResource = resource({
  path: `/${LDAP}`,
  noun: 'LDAP configuration',
  doc: 'Where an SVM is to ask LDAP, and how. A record: nothing is asked.',
  key: ['svm.uuid'],
  recordKey: ['svm.uuid'],
  parent: 'svm.uuid',
  nameWithin: false,
  fields: {
    svm: { doc: 'The SVM that asks.', ref: 'svm/svms', set: 'create', required: true },
    servers: servers('The servers, by name or address. Either these or `ad_domain`.'),
    ad_domain: name('The Active Directory domain in which servers are found.'),
    preferred_ad_servers: servers('The servers of that domain that are asked first.'),
    schema: { ...name('The schema of what they know.'), default: 'RFC-2307' },
    port: number('Their port.', 389, 1, 65_535),
    base_dn: name('Where searches begin.'),
    base_scope: scope('How deep they go.'),
    bind_dn: name('Who asks.'),
    bind_password: {
      doc: 'The password of who asks. It is kept sealed and never shown.',
      kind: secret({ charactersMax: 256 }),
      set: 'always',
    },
    bind_as_cifs_server: on('Whether the CIFS server of the SVM is who asks.', false, '9.9.1'),
    min_bind_level: choice('How who asks must at least prove it.', ['simple', 'anonymous', 'sasl']),
    query_timeout: number('Seconds that a server has to answer.', 3, 1, 10, '9.9.1'),
    use_start_tls: on('LDAP that turns to TLS.', false),
    ldaps_enabled: on('LDAP over TLS.', false, '9.9.1'),
    session_security: choice('Whether talk is signed or sealed.', ['none', 'sign', 'seal']),
    referral_enabled: on('Referrals to other servers are followed.', false, '9.9.1'),
    user_dn: name('Where searches for users begin.', '9.9.1'),
    user_scope: scope('How deep they go.', '9.9.1'),
    group_dn: name('Where searches for groups begin.', '9.9.1'),
    group_scope: scope('How deep they go.', '9.9.1'),
    netgroup_dn: name('Where searches for netgroups begin.', '9.9.1'),
    netgroup_scope: scope('How deep they go.', '9.9.1'),
    group_membership_filter: name('A filter for the members of groups.', '9.9.1'),
    is_netgroup_byhost_enabled: on('Netgroups are asked for by host.', false, '9.9.1'),
    netgroup_byhost_dn: name('Where those searches begin.', '9.9.1'),
    netgroup_byhost_scope: scope('How deep they go.', '9.9.1'),
    skip_config_validation: {
      doc: 'Taken for tools that send it. Servers are not tried in any case.',
      kind: flag(),
      set: 'always',
      isOrder: true,
      since: '9.9.1',
    },
    is_owner: { doc: 'Whether the SVM has it for itself.', kind: flag(), since: '9.9.1' },
  },
})

export const ldap: Behaviour<typeof ldapResource> = define(ldapResource, {
  derive: [{ gives: ['is_owner'], from: (_cluster, rows) => Promise.resolve(rows.map(() => ({ is_owner: true }))) }],
  secrets: { bind_password: { read: passwordOf } },
  ...plainVerbs(LDAP, {
    example: { 'svm.name': 'svm1', servers: ['192.0.2.53'], base_dn: 'dc=example,dc=com' },
    check: checkLdap,
  }),
})

function passwordOf(cluster: Cluster, row: Row): string | undefined {
  const sealed = textAt(row, '$bind_password')
  return sealed === '' ? undefined : cluster.secrets.unseal(sealed)
}

function checkLdap(cluster: Cluster, given: Row): Row {
  const { skip_config_validation: _taken, ...row } = given
  const hasServers = Array.isArray(row['servers']) && row['servers'].length > 0
  const hasDomain = textAt(row, 'ad_domain') !== ''
  if (hasServers && hasDomain) throw failures.invalid('ad_domain', 'Either servers or ad_domain, not both.', codes.both)
  if (!hasServers && !hasDomain) throw failures.invalid('servers', 'Give servers or ad_domain.', codes.neither)
  if (row['use_start_tls'] === true && row['ldaps_enabled'] === true) {
    throw failures.invalid('ldaps_enabled', 'Either use_start_tls or ldaps_enabled, not both.', codes.tls)
  }
  return sealSecrets(cluster, LDAP, row)
}
