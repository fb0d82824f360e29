import { textAt, type Row } from '../model/value.ts'

/** The UUID of the aggregate that a volume lies in. */
export function aggregateOf(volume: Row): string {
  const [aggregate] = (volume['aggregates'] ?? []) as readonly Row[]
  return textAt(aggregate, 'uuid')
}
