import type { XmlContent } from '../xml.ts'

/** Everything in an SVM belongs to the SVM: users are granted access, they do not own. */
export function owner(svm: string): { readonly ID: string; readonly DisplayName: string } {
  return { ID: svm, DisplayName: svm }
}

/** The access control list that every bucket and object has. Policies are what decides. */
export function privateAcl(svm: string): XmlContent {
  return {
    Owner: owner(svm),
    AccessControlList: {
      Grant: {
        Grantee: {
          '@xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
          '@xsi:type': 'CanonicalUser',
          ...owner(svm),
        },
        Permission: 'FULL_CONTROL',
      },
    },
  }
}
