/** The network that a cluster comes with: an IPspace for all, and a broadcast domain for the ports of the machine. */
import type { Cluster } from '../../core/cluster.ts'
import { BROADCAST_DOMAINS, DEFAULT, IPSPACES, MTU_BYTES } from './names.ts'

/** For a new cluster, and for one from before there was any. Whoever deletes the broadcast domain is rid of it. */
export async function addBuiltInNetwork(cluster: Cluster): Promise<void> {
  if ((await cluster.keyOfName(IPSPACES, DEFAULT)) === undefined) await addNetwork(cluster)
  await placeSvms(cluster)
}

/** SVMs from before there was a choice are in the IPspace that there was. */
async function placeSvms(cluster: Cluster): Promise<void> {
  const ipspace = (await cluster.keyOfName(IPSPACES, DEFAULT)) ?? ''
  const placeless = (await cluster.rows('svm/svms')).filter((svm) => svm['ipspace.uuid'] === undefined)
  if (placeless.length === 0) return
  await cluster.commit(placeless.map((svm) => cluster.put('svm/svms', { ...svm, 'ipspace.uuid': ipspace })))
}

async function addNetwork(cluster: Cluster): Promise<void> {
  const [ipspace, domain] = [cluster.system.random.uuid(), cluster.system.random.uuid()]
  await cluster.commit([
    cluster.put(IPSPACES, { uuid: ipspace, name: DEFAULT, $isBuiltIn: true }, { expect: 'absent' }),
    cluster.put(
      BROADCAST_DOMAINS,
      { uuid: domain, name: DEFAULT, 'ipspace.uuid': ipspace, mtu: MTU_BYTES, $isBuiltIn: true },
      { expect: 'absent' },
    ),
  ])
}
