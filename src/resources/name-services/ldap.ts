import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { plainVerbs } from '../../core/plain.ts'
import { sealSecrets, unsealed } from '../../core/access/sealed.ts'
import { failure } from '../../model/failure.ts'
import { flag, list, secret, text } from '../../model/kinds/index.ts'
import { type FieldDeclaration, resource } from '../../model/resource.ts'
import type { NewOf, RowOf } from '../../model/rows.ts'
import type { Row } from '../../model/value.ts'
import { choice, number, on } from '../protocols/setting.ts'

export const LDAP = 'name-services/ldap'

const SERVERS_MAX = 10

const name = (doc: string, since?: string) =>
  ({
    doc,
    kind: text({ charactersMax: 1024 }),
    set: 'always',
    ...(since === undefined ? {} : { since }),
  }) as const satisfies FieldDeclaration
const scope = (doc: string, since?: string) =>
  choice(
    doc,
    { subtree: 'The base and everything below.', base: 'Only the base.', onelevel: 'The level below the base.' },
    since,
  )
const servers = (doc: string) =>
  ({
    doc,
    kind: list(text({ charactersMin: 1, charactersMax: 255 }), { elementsMax: SERVERS_MAX }),
    set: 'always',
  }) as const satisfies FieldDeclaration

const ldapResource = resource({
  path: `/${LDAP}`,
  noun: 'LDAP configuration',
  doc: 'LDAP configurations of SVMs. Stored without effect: LDAP servers are not queried.',
  key: ['svm.uuid'],
  recordKey: ['svm.uuid'],
  parent: 'svm.uuid',
  nameWithin: false,
  fields: {
    svm: { doc: 'The SVM of the LDAP configuration.', ref: 'svm/svms', set: 'create', required: true },
    servers: servers('The LDAP servers, by name or address. Required without `ad_domain`.'),
    ad_domain: name('The Active Directory domain whose servers are used.'),
    preferred_ad_servers: servers('The servers of the domain that are queried first.'),
    schema: { ...name('The name of the LDAP schema.'), default: 'RFC-2307' },
    port: number('The TCP port of the LDAP servers.', 389, 1, 65_535),
    base_dn: name('The base DN of searches.'),
    base_scope: scope('The depth of searches.'),
    bind_dn: name('The DN that the SVM binds with.'),
    bind_password: {
      doc: 'The password that the SVM binds with. Stored encrypted and never shown.',
      kind: secret({ charactersMax: 256 }),
      set: 'always',
    },
    bind_as_cifs_server: on('Whether the SVM binds as its CIFS server.', false, '9.9.1'),
    min_bind_level: choice('The minimum authentication level of the bind.', {
      simple: 'A name and a password.',
      anonymous: 'No authentication.',
      sasl: 'SASL.',
    }),
    query_timeout: number('The number of seconds to wait for a response of a server.', 3, 1, 10, '9.9.1'),
    use_start_tls: on('Whether LDAP connections use STARTTLS.', false),
    ldaps_enabled: on('Whether LDAP over TLS (LDAPS) is used.', false, '9.9.1'),
    session_security: choice('The protection of LDAP connections.', {
      none: 'No protection.',
      sign: 'Messages are signed.',
      seal: 'Messages are signed and encrypted.',
    }),
    referral_enabled: on('Whether LDAP referrals are followed.', false, '9.9.1'),
    user_dn: name('The base DN of user searches.', '9.9.1'),
    user_scope: scope('The depth of searches.', '9.9.1'),
    group_dn: name('The base DN of group searches.', '9.9.1'),
    group_scope: scope('The depth of searches.', '9.9.1'),
    netgroup_dn: name('The base DN of netgroup searches.', '9.9.1'),
    netgroup_scope: scope('The depth of searches.', '9.9.1'),
    group_membership_filter: name('The LDAP filter for group membership.', '9.9.1'),
    is_netgroup_byhost_enabled: on('Whether netgroups are looked up by host.', false, '9.9.1'),
    netgroup_byhost_dn: name('The base DN of netgroup searches by host.', '9.9.1'),
    netgroup_byhost_scope: scope('The depth of searches.', '9.9.1'),
    skip_config_validation: {
      doc: 'Whether to skip the test of the servers. Accepted without effect: servers are never tested.',
      kind: flag(),
      set: 'always',
      isInput: true,
      since: '9.9.1',
    },
    is_owner: { doc: 'Whether the SVM owns the configuration.', kind: flag(), since: '9.9.1' },
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

function passwordOf(cluster: Cluster, row: RowOf<typeof LDAP>): string | undefined {
  return unsealed(cluster, row['$bind_password'])
}

function checkLdap(cluster: Cluster, given: NewOf<typeof LDAP>): Row {
  const { skip_config_validation: _taken, ...row } = given
  const hasServers = (row['servers'] ?? []).length > 0
  const hasDomain = (row['ad_domain'] ?? '') !== ''
  if (hasServers && hasDomain) throw failure('ldapServersAndDomain')
  if (!hasServers && !hasDomain) throw failure('ldapWithoutServers')
  if (row['use_start_tls'] === true && row['ldaps_enabled'] === true) {
    throw failure('ldapTlsTwice')
  }
  return sealSecrets(cluster, LDAP, row)
}
