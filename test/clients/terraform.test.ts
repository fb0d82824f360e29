/** The requests of the Terraform provider netapp-ontap, resource by resource: see terraform/provider.ts for what this is. */
import { after, before, it } from 'node:test'
import { insistOnSection } from '../support/page-section.ts'
import { startProduct, type Product } from '../support/product.ts'
import { clusterFlows } from './terraform/cluster.ts'
import { networkFlows } from './terraform/network.ts'
import { securityFlows } from './terraform/security.ts'
import { storageFlows } from './terraform/storage.ts'
import { cifsFlows } from './terraform/cifs.ts'
import type { Flow } from './terraform/flow.ts'
import { nasFlows } from './terraform/nas.ts'
import { s3Flows } from './terraform/s3.ts'
import { Provider } from './terraform/provider.ts'
import { terraformSection } from './terraform/table.ts'
import { svmFlows, svmRemoval } from './terraform/svm.ts'
import { volumeFlows } from './terraform/volumes.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const skip = reasonUnlessWhole('test/recordings/terraform.test.ts')

const flows: readonly Flow[] = [
  ...clusterFlows,
  ...svmFlows,
  ...networkFlows,
  ...securityFlows,
  ...storageFlows,
  ...volumeFlows,
  ...nasFlows,
  ...cifsFlows,
  ...s3Flows,
  svmRemoval,
]

describeUnless(skip, 'the Terraform provider netapp-ontap', {}, () => {
  let product: Product
  let provider: Provider
  before(async () => {
    product = await startProduct()
    provider = new Provider(product)
  })
  after(async () => {
    provider.close()
    await product.stop()
  })
  const checked = new Map<Flow, ReadonlySet<string>>()
  for (const flow of flows) {
    it(`${flow.resource}: ${flow.what}`, async () => {
      provider.takeCalled()
      await flow.run(provider)
      checked.set(flow, provider.takeCalled())
    })
  }
  it('docs/compatibility.md says what was checked', () =>
    insistOnSection('docs/compatibility.md', 'Terraform', terraformSection(checked)))
})
