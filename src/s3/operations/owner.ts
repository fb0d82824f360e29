/** Everything in an SVM belongs to the SVM: users are granted access, they do not own. */
export function owner(svm: string): { readonly ID: string; readonly DisplayName: string } {
  return { ID: svm, DisplayName: svm }
}
