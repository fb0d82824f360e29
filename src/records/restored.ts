/**
 * When the catalog was put back from a backup, and of when its state is: blobs that are older may be of objects that it does
 * not know, so they stay where they are.
 */
export const RESTORED = ['internal/restored', 'last'] as const

declare module '../model/rows.ts' {
  interface RowTypes {
    readonly 'internal/restored': { readonly atMs: number }
  }
}
