/** The private key that is kept with a certificate, sealed. Only the product has it: nobody reads it back. */
export const sealedKey = '$privateKey'

declare module '../model/rows.ts' {
  interface NoteTypes {
    readonly 'security/certificates': { readonly [sealedKey]?: string }
  }
}
