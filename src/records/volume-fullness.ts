/** How full a volume was when it was last told of; its key is that of the volume. */
export const FULLNESS = 'internal/volume-fullness'

export type Fullness = 'none' | 'nearly-full' | 'full'

declare module '../model/rows.ts' {
  interface RowTypes {
    readonly 'internal/volume-fullness': { readonly level: Fullness }
  }
}
