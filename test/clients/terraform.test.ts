/** The requests of the Terraform provider netapp-ontap, resource by resource: see terraform/provider.ts for what this is. */
import { after, before, describe, it } from 'node:test'
import { startProduct, type Product } from '../support/product.ts'
import { cifsFlows } from './terraform/cifs.ts'
import type { Flow } from './terraform/flow.ts'
import { nasFlows } from './terraform/nas.ts'
import { s3Flows } from './terraform/s3.ts'
import { Provider } from './terraform/provider.ts'
import { svmFlows, svmRemoval } from './terraform/svm.ts'
import { volumeFlows } from './terraform/volumes.ts'

const flows: readonly Flow[] = [...svmFlows, ...volumeFlows, ...nasFlows, ...cifsFlows, ...s3Flows, svmRemoval]

describe('the Terraform provider netapp-ontap', () => {
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
  for (const flow of flows) it(`${flow.resource}: ${flow.what}`, () => flow.run(provider))
})
