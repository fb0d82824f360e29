import { textAt, type Row } from '../model/value.ts'

/**
 * The tree in its aggregate that holds a volume's blobs. A volume begins with one of its own name; a clone shares that of
 * its parent, and a move makes a new one.
 */
export function treeOf(volume: Row): string {
  return textAt(volume, '$tree') || textAt(volume, 'uuid')
}
