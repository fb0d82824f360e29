import { asText } from '../../support/body.ts'
import type { Provider } from './provider.ts'

/** The SVM that everything is made in; the flow of SVMs makes it, and the last flow removes it. */
export const SVM = 'tf_svm'
export const AGGREGATE = 'aggr1'

/** What the provider does for one resource or data source, from its creation to its removal. */
export interface Flow {
  /** `netapp-ontap_volume`, as configurations name it. */
  readonly resource: string
  /** One sentence: what is made. */
  readonly what: string
  run(provider: Provider): Promise<void>
}

/** The UUID of an SVM, as the provider looks it up. */
export async function svmUuid(provider: Provider, name = SVM): Promise<string> {
  const svm = await provider.read('svm/svms', { name }, { name: 'string', uuid: 'string' })
  return asText(svm['uuid'])
}
