import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { plainVerbs } from '../../../core/plain.ts'
import { failure } from '../../../model/failure.ts'
import { type Fields, groups, resource } from '../../../model/resource.ts'
import { address, list, oneOf, secret, text, flag } from '../../../model/kinds/index.ts'
import { totalFields } from '../../metric-readings.ts'
import { choice, never, NOTHING_ENCRYPTED, number, on } from '../setting.ts'

export const CIFS_SERVICES = 'protocols/cifs/services'
const NETBIOS_CHARACTERS_MAX = 15

const netbiosName = () =>
  text({
    charactersMin: 1,
    charactersMax: NETBIOS_CHARACTERS_MAX,
    pattern: /^[A-Za-z0-9!#$%&'()@^_{}~-]+$/,
    patternDoc: 'a NetBIOS name',
  })

const force = {
  force: {
    doc: 'Whether to take over an existing machine account. There is no domain, so this only allows a running server to be renamed.',
    kind: flag(),
    default: false,
  },
} as const satisfies Fields

const security = {
  'security.smb_signing': on('Whether clients must sign requests.', false),
  'security.smb_encryption': never('Whether clients must encrypt requests.', NOTHING_ENCRYPTED),
  'security.kdc_encryption': on('Whether Kerberos uses AES.', false),
  'security.restrict_anonymous': choice('The information that anonymous users may see.', {
    no_enumeration: 'Shares, but no lists of users.',
    no_restriction: 'Everything.',
    no_access: 'Nothing.',
  }),
  'security.lm_compatibility_level': choice(
    'The authentication protocols that are accepted.',
    {
      lm_ntlm_ntlmv2_krb: 'LM, NTLM, NTLMv2 and Kerberos.',
      ntlm_ntlmv2_krb: 'NTLM, NTLMv2 and Kerberos.',
      ntlmv2_krb: 'NTLMv2 and Kerberos.',
      krb: 'Kerberos only.',
    },
    '9.8',
  ),
  'security.encrypt_dc_connection': on('Whether connections to domain controllers are encrypted.', false, '9.8'),
  'security.aes_netlogon_enabled': on('Whether the Netlogon channel to domain controllers uses AES.', false, '9.10.1'),
  'security.ldap_referral_enabled': on('Whether LDAP referrals are followed.', false, '9.10.1'),
  'security.session_security': choice(
    'The protection of connections to LDAP servers.',
    { none: 'No protection.', sign: 'Messages are signed.', seal: 'Messages are signed and encrypted.' },
    '9.10.1',
  ),
  'security.try_ldap_channel_binding': on('Whether LDAP logins use channel binding.', true, '9.10.1'),
  'security.use_ldaps': on('Whether LDAP over TLS (LDAPS) is used.', false, '9.10.1'),
  'security.use_start_tls': on('Whether LDAP connections use STARTTLS.', false, '9.10.1'),
  'security.advertised_kdc_encryptions': {
    doc: 'The Kerberos encryption types that the server advertises.',
    kind: list(oneOf({ des: 'DES.', rc4: 'RC4.', aes_128: 'AES with 128 bits.', aes_256: 'AES with 256 bits.' }), {
      elementsMax: 8,
    }),
    set: 'always',
    since: '9.12.1',
  },
} as const satisfies Fields

const plain = plainVerbs(CIFS_SERVICES, {
  example: { name: 'CIFS1', 'svm.name': 'svm1', 'ad_domain.fqdn': 'example.com' },
  check(_cluster, row) {
    if (row['security.use_ldaps'] === true && row['security.use_start_tls'] === true) {
      throw failure('cifsTlsTwice')
    }
    // It is needed to join a domain, and nowhere after that.
    const { 'ad_domain.password': _, ...kept } = row
    return kept
  },
})

const cifsServicesResource = resource({
  path: `/${CIFS_SERVICES}`,
  noun: 'CIFS server',
  doc: 'CIFS servers of SVMs. Stored without effect: servers join no domain, and files are not served yet.',
  key: ['svm.uuid'],
  recordKey: ['svm.uuid'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  columns: ['svm.name', 'name', 'enabled', 'ad_domain.fqdn', 'workgroup'],
  form: {
    Server: ['svm.name', 'name', 'enabled', 'comment'],
    Domain: ['ad_domain.fqdn', 'ad_domain.organizational_unit', 'ad_domain.user', 'ad_domain.password', 'workgroup'],
  },
  removal: 'undoable',
  fields: {
    ...groups({
      ad_domain: 'The Active Directory domain of the SMB server.',
      netbios: 'NetBIOS names of the SMB server.',
      security: 'Signing, encryption and authentication of SMB.',
      options: 'Features of SMB.',
    }),
    svm: { doc: 'The SVM of the CIFS server.', ref: 'svm/svms', set: 'create', required: true },
    name: { doc: 'The NetBIOS name of the server.', kind: netbiosName(), set: 'always', required: true },
    enabled: on('Whether the CIFS server is enabled.', true),
    // Nothing is counted yet, so none of these is set. Tools filter by them.
    ...totalFields(),
    comment: { doc: 'A comment that describes the server.', kind: text({ charactersMax: 256 }), set: 'always' },
    default_unix_user: {
      doc: 'The UNIX user for Windows users without a mapping.',
      kind: text({ charactersMax: 256 }),
      set: 'always',
    },
    workgroup: {
      doc: 'The workgroup of a server that is in no domain.',
      kind: text({ charactersMax: NETBIOS_CHARACTERS_MAX }),
      set: 'always',
      since: '9.15.1',
    },
    'ad_domain.fqdn': {
      doc: 'The name of the Active Directory domain to join.',
      kind: text({ charactersMax: 254 }),
      set: 'always',
    },
    'ad_domain.organizational_unit': {
      doc: 'The organizational unit of the server in the domain.',
      kind: text({ charactersMax: 1024 }),
      set: 'always',
    },
    'ad_domain.user': {
      doc: 'The user with permission to join the domain.',
      kind: text({ charactersMax: 256 }),
      set: 'always',
    },
    'ad_domain.password': {
      doc: 'The password of the user with permission to join the domain. Not stored.',
      kind: secret({ charactersMax: 256 }),
      set: 'always',
    },
    'netbios.enabled': on('Whether clients find the server by its NetBIOS name.', false),
    'netbios.aliases': {
      doc: 'Other names of the server.',
      kind: list(netbiosName(), { elementsMax: 200 }),
      set: 'always',
    },
    'netbios.wins_servers': {
      doc: 'The addresses of the WINS servers.',
      kind: list(address(), { elementsMax: 20 }),
      set: 'always',
    },
    ...security,
    'options.smb_credits': number('The maximum number of concurrent requests of a client.', 128, 2, 8192, '9.10.1'),
    'options.multichannel': on('Whether a session can use several connections.', true, '9.10.1'),
    'options.large_mtu': on('Whether requests larger than 64 KiB are allowed.', true, '9.10.1'),
    'options.copy_offload': on('Whether clients can offload copies of files to the server.', true, '9.10.1'),
  },
})

export const cifsServices: Behaviour<typeof cifsServicesResource> = define(cifsServicesResource, {
  create: {
    ...plain.create,
    args: force,
    async plan(cluster, request) {
      if ((await cluster.find(CIFS_SERVICES, request.draft['svm.uuid'])) !== undefined) {
        throw failure('cifsServerTaken')
      }
      return plain.create.plan(cluster, request)
    },
  },
  modify: {
    ...plain.modify,
    args: force,
    plan(cluster, request) {
      const { row, draft, args } = request
      const isRenamed = draft['name'] !== undefined && draft['name'] !== row['name']
      if (isRenamed && row['enabled'] === true && draft['enabled'] !== false && !args.force) {
        throw failure('cifsServerRunning')
      }
      return plain.modify.plan(cluster, request)
    },
  },
  remove: { ...plain.remove, args: force },
})

/** Refuses what an SVM without a CIFS server cannot have. */
export async function insistOnCifs(cluster: Cluster, row: { readonly 'svm.uuid': string }): Promise<void> {
  if ((await cluster.find(CIFS_SERVICES, row['svm.uuid'])) === undefined) {
    throw failure('cifsServerMissing')
  }
}
