/** Every resource of the product, in plain sight. A new one is a file and a line here. */
import type { Behaviour } from '../core/behaviour.ts'
import type { NewDraftIn, RowIn, TypeIn } from '../model/rows.ts'
import { clusterVersion } from './cluster/version.ts'
import { clusterHistory } from './cluster/metrics.ts'
import { counterRows } from './cluster/counter/tables/rows.ts'
import { jobs } from './cluster/jobs.ts'
import { nodes } from './cluster/nodes.ts'
import { nodeHistory } from './cluster/nodes/metrics.ts'
import { ntpServers } from './cluster/ntp/servers.ts'
import { schedules } from './cluster/schedules.ts'
import { tables } from './cluster/counter/tables.ts'
import { applications } from './application/applications.ts'
import { applicationComponents } from './application/applications/components.ts'
import { consistencyGroups } from './application/consistency-groups.ts'
import { groupSnapshots } from './application/consistency-groups/snapshots.ts'
import { applicationTemplates } from './application/templates.ts'
import { cluster } from './cluster.ts'
import { licenses } from './cluster/licensing/licenses.ts'
import { ntpKeys } from './cluster/ntp/keys.ts'
import { dns } from './name-services/dns.ts'
import { ldap } from './name-services/ldap.ts'
import { nameMappings } from './name-services/name-mappings.ts'
import { nis } from './name-services/nis.ts'
import { unixGroupUsers } from './name-services/unix-groups/users.ts'
import { unixGroups } from './name-services/unix-groups.ts'
import { localHosts } from './name-services/local-hosts.ts'
import { unixUsers } from './name-services/unix-users.ts'
import { broadcastDomains } from './network/ethernet/broadcast-domains.ts'
import { ports } from './network/ethernet/ports.ts'
import { routes } from './network/ip/routes.ts'
import { subnets } from './network/ip/subnets.ts'
import { ipspaces } from './network/ipspaces.ts'
import { portsTakenOut } from './private/cli/network/port/broadcast-domain/remove-ports.ts'
import { loginMessages } from './security/login/messages.ts'
import { disks } from './storage/disks.ts'
import { autoUpdate } from './support/auto-update.ts'
import { autosupport } from './support/autosupport.ts'
import { ems } from './support/ems.ts'
import { applicationLogs } from './support/ems/application-logs.ts'
import { emsDestinations } from './support/ems/destinations.ts'
import { emsFilters } from './support/ems/filters.ts'
import { emsRules } from './support/ems/filters/rules.ts'
import { emsMessages } from './support/ems/messages.ts'
import { snmp } from './support/snmp.ts'
import { snmpTraphosts } from './support/snmp/traphosts.ts'
import { snmpUsers } from './support/snmp/users.ts'
import { servicePolicies } from './network/ip/service-policies.ts'
import { interfaces } from './network/ip/interfaces.ts'
import { localGroupMembers } from './protocols/cifs/local-groups/members.ts'
import { localGroups } from './protocols/cifs/local-groups.ts'
import { localUsers } from './protocols/cifs/local-users.ts'
import { cifsServices } from './protocols/cifs/services.ts'
import { cifsShares } from './protocols/cifs/shares.ts'
import { shareAcls } from './protocols/cifs/shares/acls.ts'
import { cifsPrivileges } from './protocols/cifs/users-and-groups/privileges.ts'
import { fpolicyEngines } from './protocols/fpolicy/engines.ts'
import { fpolicyEvents } from './protocols/fpolicy/events.ts'
import { fpolicyPolicies } from './protocols/fpolicy/policies.ts'
import { fpolicy } from './protocols/fpolicy.ts'
import { exportPolicies } from './protocols/nfs/export-policies.ts'
import { exportRuleClients } from './protocols/nfs/export-policies/rule-clients.ts'
import { exportRules } from './protocols/nfs/export-policies/rules.ts'
import { nfsServices } from './protocols/nfs/services.ts'
import { buckets } from './protocols/s3/buckets.ts'
import { lifecycleRuns } from './protocols/s3/lifecycle-runs.ts'
import { bucketRules } from './protocols/s3/services/buckets/rules.ts'
import { bucketSnapshots } from './protocols/s3/services/buckets/snapshots.ts'
import { svmBuckets } from './protocols/s3/services/buckets.ts'
import { groups } from './protocols/s3/services/groups.ts'
import { serviceHistory } from './protocols/s3/services/metrics.ts'
import { policies } from './protocols/s3/services/policies.ts'
import { users } from './protocols/s3/services/users.ts'
import { services } from './protocols/s3/services.ts'
import { backgroundTasks } from './private/background-tasks.ts'
import { damagedObjects } from './private/damaged-objects.ts'
import { faults } from './private/faults.ts'
import { scrubSchedule } from './private/scrub-schedule.ts'
import { scrubs } from './private/scrubs.ts'
import { imports } from './private/imports.ts'
import { recoveryQueue } from './private/cli/volume/recovery-queue.ts'
import { purgeOfQueue } from './private/cli/volume/recovery-queue/purge.ts'
import { recoveryFromQueue } from './private/cli/volume/recovery-queue/recover.ts'
import { resourceTags } from './resource-tags.ts'
import { taggedResources } from './resource-tags/resources.ts'
import { accounts } from './security/accounts.ts'
import { passwords } from './security/authentication/password.ts'
import { certificateSigningRequests } from './security/certificate-signing-request.ts'
import { certificates } from './security/certificates.ts'
import { rolePrivileges } from './security/roles/privileges.ts'
import { roles } from './security/roles.ts'
import { auditMessages } from './security/audit/messages.ts'
import { keys } from './security/authentication/keys.ts'
import { aggregates } from './storage/aggregates.ts'
import { aggregateHistory } from './storage/aggregates/metrics.ts'
import { plexes } from './storage/aggregates/plexes.ts'
import { cloudStores } from './storage/aggregates/cloud-stores.ts'
import { qosPolicies } from './storage/qos/policies.ts'
import { qosWorkloads } from './storage/qos/workloads.ts'
import { qtrees } from './storage/qtrees.ts'
import { quotaReports } from './storage/quota/reports.ts'
import { quotaRules } from './storage/quota/rules.ts'
import { snapshotPolicies } from './storage/snapshot-policies.ts'
import { snapshotPolicySchedules } from './storage/snapshot-policies/schedules.ts'
import { efficiencyRuns } from './storage/volumes/efficiency-runs.ts'
import { volumeHistory } from './storage/volumes/metrics.ts'
import { snapshots } from './storage/volumes/snapshots.ts'
import { volumeEfficiencyPolicies } from './storage/volume-efficiency-policies.ts'
import { volumes } from './storage/volumes.ts'
import { events } from './support/ems/events.ts'
import { serverBuckets } from './svm/svms/object-store/servers/buckets.ts'
import { servers } from './svm/svms/object-store/servers.ts'
import { security } from './security.ts'
import { withoutRecords } from './without-records.ts'
import { clusterSoftware } from './cluster/software.ts'
import { switchPorts } from './network/ethernet/switch-ports.ts'
import { chassisParts, controllerParts, healthSubsystems } from './private/cli/system/hardware.ts'
import { bucketPolicyStatements } from './private/cli/vserver/bucket-policy.ts'
import { alerts } from './private/support/alerts.ts'
import { kerberosInterfaces } from './protocols/nfs/kerberos-interfaces.ts'
import { igroups } from './protocols/san/igroups.ts'
import { iscsiCredentials, iscsiServices } from './protocols/san/iscsi.ts'
import { vscan, vscanServers } from './protocols/vscan.ts'
import { securitySsh } from './security/ssh.ts'
import { snapmirrorPolicies } from './snapmirror/policies.ts'
import { snapmirrorRelationships } from './snapmirror/relationships.ts'
import { storageCluster } from './storage/cluster.ts'
import { luns } from './storage/luns.ts'
import { namespaces } from './storage/namespaces.ts'
import { svms } from './svm/svms.ts'

const all = [
  cluster,
  clusterVersion,
  clusterHistory,
  nodes,
  nodeHistory,
  ntpServers,
  ntpKeys,
  licenses,
  schedules,
  jobs,
  tables,
  counterRows,
  svms,
  servers,
  serverBuckets,
  volumes,
  snapshots,
  volumeHistory,
  aggregateHistory,
  // Before the queue, of whose volumes none is called so.
  recoveryFromQueue,
  purgeOfQueue,
  recoveryQueue,
  applications,
  applicationComponents,
  applicationTemplates,
  consistencyGroups,
  groupSnapshots,
  qtrees,
  quotaRules,
  quotaReports,
  efficiencyRuns,
  aggregates,
  cloudStores,
  plexes,
  disks,
  snapshotPolicies,
  snapshotPolicySchedules,
  volumeEfficiencyPolicies,
  qosPolicies,
  qosWorkloads,
  ipspaces,
  broadcastDomains,
  ports,
  portsTakenOut,
  subnets,
  routes,
  interfaces,
  servicePolicies,
  exportPolicies,
  exportRules,
  exportRuleClients,
  nfsServices,
  cifsServices,
  cifsShares,
  shareAcls,
  localUsers,
  localGroups,
  localGroupMembers,
  cifsPrivileges,
  fpolicy,
  fpolicyEvents,
  fpolicyEngines,
  fpolicyPolicies,
  // Before policies, of which none is called so.
  dns,
  ldap,
  nis,
  nameMappings,
  unixUsers,
  localHosts,
  unixGroups,
  unixGroupUsers,
  services,
  serviceHistory,
  buckets,
  svmBuckets,
  bucketRules,
  bucketSnapshots,
  lifecycleRuns,
  users,
  policies,
  groups,
  accounts,
  roles,
  rolePrivileges,
  certificates,
  passwords,
  certificateSigningRequests,
  keys,
  auditMessages,
  loginMessages,
  events,
  resourceTags,
  taggedResources,
  backgroundTasks,
  damagedObjects,
  scrubs,
  scrubSchedule,
  faults,
  imports,
  emsMessages,
  ems,
  emsFilters,
  emsRules,
  emsDestinations,
  applicationLogs,
  snmp,
  snmpUsers,
  snmpTraphosts,
  autosupport,
  autoUpdate,
  security,
  securitySsh,
  clusterSoftware,
  storageCluster,
  bucketPolicyStatements,
  snapmirrorPolicies,
  snapmirrorRelationships,
  luns,
  namespaces,
  igroups,
  iscsiServices,
  iscsiCredentials,
  // Before the configurations of SVMs, of which none is called so.
  vscanServers,
  vscan,
  kerberosInterfaces,
  switchPorts,
  alerts,
  healthSubsystems,
  controllerParts,
  chassisParts,
  ...withoutRecords,
] as const satisfies readonly Behaviour[]

export const behaviours: readonly Behaviour[] = all

type Declared = (typeof all)[number]['resource']
type DeclaredRows = { readonly [Of in Declared as TypeIn<Of>]: RowIn<Of> }
type DeclaredDrafts = { readonly [Of in Declared as TypeIn<Of>]: NewDraftIn<Of> }

declare module '../model/rows.ts' {
  interface RowTypes extends DeclaredRows {}
  interface DraftTypes extends DeclaredDrafts {}
}
