import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { inline } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { each, flag, group, list, oneOf, text, time } from '../../../model/kinds/index.ts'
import { resource, type TypeName } from '../../../model/resource.ts'
import { textOf } from '../../../model/value.ts'
import { type LicenseFile, readLicenseFile } from './license-files.ts'
import type { DraftOf, RowOf } from '../../../model/rows.ts'

const LICENSES = 'cluster/licensing/licenses'

const FILES_MAX = 256
const KEY_CHARACTERS_MAX = 16 * 1024

/** What the product has itself: nobody needs a license for it. */
const OWN: Readonly<Record<string, string>> = {
  s3: 'Object store',
  flexclone: 'Clones of volumes',
  snaprestore: 'Going back to snapshots',
}
/** What else tools ask about: functions of shipping systems that are sold apart. */
const OTHERS = [
  'nfs',
  'cifs',
  'iscsi',
  'fcp',
  'nvme_of',
  'snapmirror',
  'snapmirror_sync',
  's3_snapmirror',
  'snaplock',
  'snapmanagersuite',
  'snapprotectapp',
  'snapvault',
  'fabricpool',
  'volume_encryption',
  'tpm',
  'mt_ek_mgmt',
  'anti_ransomware',
]

const state = oneOf({
  compliant: 'Part of the product, or licensed.',
  noncompliant: 'A license is not complied with.',
  unlicensed: 'No license is installed.',
  unknown: 'The state is not known.',
})

/** As license files are: which packages, for whom, and a signature. */
const EXAMPLE_FILE =
  '{"statusResp":{"product":"Example","serialNumber":"12345678","licenses":{"package":["SnapMirror"],"licenseScope":"cluster"}},"Signature":"example"}'

const licensesResource = resource({
  path: '/cluster/licensing/licenses',
  noun: 'license',
  doc: 'Licensed packages and installed licenses of the vendor. The product needs no license, and a license adds no function.',
  key: ['name'],
  recordKey: ['$serialNumber', '$product'],
  nameWithin: false,
  order: [{ path: 'name', isDescending: false }],
  columns: ['name', 'state', 'scope', 'description'],
  fields: {
    name: { doc: 'The name of the package.', kind: text() },
    description: { doc: 'A sentence that describes the package.', kind: text(), since: '9.11.1' },
    scope: {
      doc: 'The scope of licenses for the package.',
      kind: oneOf({
        not_available: 'No license exists.',
        site: 'A license is for all clusters.',
        cluster: 'A license is for one cluster.',
        node: 'A license is for one node.',
      }),
    },
    state: {
      doc: 'Whether the package is licensed.',
      kind: state,
    },
    entitlement: { doc: 'Whether the cluster may use the package.', isGroup: true },
    'entitlement.action': {
      doc: 'The action that the entitlement requires.',
      kind: oneOf({ acquire_license: 'All licenses of the package have expired.', none: 'Nothing is to be done.' }),
      since: '9.11.1',
    },
    'entitlement.risk': {
      doc: 'The risk of using the package without a license.',
      kind: oneOf({
        high: 'All licenses have expired.',
        low: 'The package needs no license, or has one.',
        unlicensed: 'No license is installed.',
      }),
      since: '9.11.1',
    },
    keys: {
      doc: 'The contents of license files to install. Never shown.',
      kind: list(text({ charactersMin: 1, charactersMax: KEY_CHARACTERS_MAX }), { elementsMax: 16 }),
      set: 'create',
      required: true,
    },
    licenses: {
      doc: 'The installed licenses of the package.',
      kind: each({
        owner: { kind: text(), doc: 'The cluster that owns the license.' },
        serial_number: { kind: text(), doc: 'The serial number of the license.' },
        installed_license: { kind: text(), doc: 'The licensed product.', since: '9.9.1' },
        host_id: { kind: text(), doc: 'The ID of the licensed host.', since: '9.9.1' },
        active: { kind: flag(), doc: 'Whether the license is still valid.' },
        evaluation: { kind: flag(), doc: 'Whether the license is for evaluation only.' },
        expiry_time: { kind: time(), doc: 'When the license expires.' },
        shutdown_imminent: {
          kind: flag(),
          doc: 'Whether nodes shut down when the license expires. Always false.',
          since: '9.11.1',
        },
        compliance: {
          kind: group({ state: { kind: state, doc: 'Whether the license is complied with.' } }),
          doc: 'The compliance with the license.',
        },
      }),
    },
  },
})

export const licenses: Behaviour<typeof licensesResource> = define(licensesResource, {
  rows: licenseRows,
  create: inline({
    example: { keys: [EXAMPLE_FILE] },
    async plan(cluster, { draft }) {
      const files = draft['keys'].map(readLicenseFile)
      if (files.length === 0) throw failure('licenseKeysMissing')
      if ((await cluster.rows(LICENSES)).length + files.length > FILES_MAX) {
        throw failure('licenseLimitReached', { max: FILES_MAX })
      }
      return {
        key: files[0]?.packages[0] ?? '',
        input: { files: files.map(asRow) },
        locks: [{ lock: LICENSES, types: [LICENSES] }],
      }
    },
    step: {
      name: 'write records',
      async run(cluster, { input }) {
        await cluster.commit(input['files'].map((row) => cluster.put(FILES, row)))
      },
    },
  }),
  remove: inline({
    args: {
      serial_number: {
        doc: 'The serial number of the license to remove. Default, and with `*`: all licenses of the package.',
        kind: text(),
        default: '*',
      },
    },
    async plan(cluster, { row, args }) {
      const name = row['name']
      const serial = args.serial_number
      const files = (await cluster.rows(LICENSES)).filter(
        (file) => packagesOf(file).includes(name) && (serial === '*' || file['$serialNumber'] === serial),
      )
      if (files.length === 0) {
        // Without double quotes: tools look for "doesn't exist" where it would be escaped beside them (seen in
        // na_ontap_license 22.7).
        throw failure('licenseNotFound', { name })
      }
      return { key: name, input: { keys: files.map(keyOf) }, locks: [{ lock: LICENSES, types: [LICENSES] }] }
    },
    step: {
      name: 'remove records',
      async run(cluster, { input }) {
        const known = new Set((await cluster.rows(LICENSES)).map(keyOf))
        const keys = input['keys'].filter((key) => known.has(key))
        await cluster.commit(keys.map((key) => ({ do: 'remove-record', type: LICENSES, key }) as const))
      },
    },
  }),
})

type License = DraftOf<typeof LICENSES>
type Installed = NonNullable<License['licenses']>[number]

/** What is kept are license files, in notes alone. The rows that are shown are packages. */
const FILES = LICENSES as TypeName

const scopes = ['site', 'cluster', 'node'] as const

function asRow(file: LicenseFile) {
  return {
    $serialNumber: file.serialNumber,
    $product: file.product,
    $packages: file.packages,
    $hostId: file.hostId,
    $scope: file.scope,
    $isEvaluation: file.isEvaluation,
    $endMs: file.endMs ?? null,
  }
}

function keyOf(file: RowOf<'cluster/licensing/licenses'>): string {
  return `${textOf(file['$serialNumber'])}/${textOf(file['$product'])}`
}

function packagesOf(file: RowOf<'cluster/licensing/licenses'>): readonly string[] {
  return file['$packages'] as readonly string[]
}

async function licenseRows(cluster: Cluster): Promise<License[]> {
  const [self] = await cluster.rows('cluster')
  const files = await cluster.rows(LICENSES)
  const names = new Set([...Object.keys(OWN), ...OTHERS, ...files.flatMap(packagesOf)])
  const now = cluster.now()
  const owner = self?.['name'] ?? ''
  return [...names].map((name) => {
    const installed = files.filter((file) => packagesOf(file).includes(name))
    const isCompliant = OWN[name] !== undefined || installed.some((file) => isActive(file, now))
    return packageOf(
      name,
      isCompliant,
      installed[0]?.['$scope'],
      installed.map((file) => shown(file, owner, now)),
    )
  })
}

function packageOf(name: string, isCompliant: boolean, given: unknown, installed: readonly Installed[]): License {
  const hasExpired = !isCompliant && installed.length > 0
  return {
    name,
    description: OWN[name] ?? name,
    scope: scopes.find((scope) => scope === given) ?? 'cluster',
    state: isCompliant ? 'compliant' : hasExpired ? 'noncompliant' : 'unlicensed',
    'entitlement.action': hasExpired ? 'acquire_license' : 'none',
    'entitlement.risk': isCompliant ? 'low' : hasExpired ? 'high' : 'unlicensed',
    ...(installed.length === 0 ? {} : { licenses: installed }),
  }
}

function shown(file: RowOf<'cluster/licensing/licenses'>, owner: string, now: number): Installed {
  const [hostId, endMs] = [textOf(file['$hostId']), file['$endMs']]
  return {
    owner,
    serial_number: textOf(file['$serialNumber']),
    installed_license: textOf(file['$product']),
    ...(hostId === '' ? {} : { host_id: hostId }),
    active: isActive(file, now),
    evaluation: file['$isEvaluation'] === true,
    shutdown_imminent: false,
    ...(typeof endMs === 'number' ? { expiry_time: endMs } : {}),
    compliance: { state: isActive(file, now) ? 'compliant' : 'noncompliant' },
  }
}

function isActive(file: RowOf<'cluster/licensing/licenses'>, now: number): boolean {
  return file['$endMs'] === undefined || Number(file['$endMs']) > now
}
