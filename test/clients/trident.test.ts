/** The requests of Trident's drivers that speak REST, part by part: see trident/driver.ts for what this is. */
import { after, before, it } from 'node:test'
import { insistOnSection } from '../support/page-section.ts'
import { startProduct, type Product } from '../support/product.ts'
import { backendParts, prepareSvm, uuidOfSvm, type Part } from './trident/backend.ts'
import { Driver } from './trident/driver.ts'
import { fileParts } from './trident/files.ts'
import { tridentSection } from './trident/table.ts'
import { volumeParts } from './trident/volumes.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const skip = reasonUnlessWhole('test/recordings/trident.test.ts')

const parts: readonly Part[] = [...backendParts, ...volumeParts, ...fileParts]

describeUnless(skip, "Trident's drivers for ONTAP", {}, () => {
  let product: Product
  let driver: Driver
  let svm: string
  before(async () => {
    product = await startProduct()
    driver = new Driver(product)
    await prepareSvm(driver)
    svm = await uuidOfSvm(driver)
  })
  after(async () => {
    driver.close()
    await product.stop()
  })
  const checked: Part[] = []
  for (const part of parts) {
    it(`${part.drivers}: ${part.what}`, async () => {
      await part.run(driver, svm)
      checked.push(part)
    })
  }
  it('docs/compatibility.md says what was checked', () =>
    insistOnSection('docs/compatibility.md', 'Trident', tridentSection(checked)))
})
