import type { Change } from '../ports/catalog.ts'
import type { Cluster } from './cluster.ts'
import { recordPages } from './record-pages.ts'

/**
 * The changes that remove what belongs to a record: the records that live under it, as their types declare, and those
 * under these. The commit is refused where another one has come meanwhile. `except` names types whose records have to go by themselves before.
 */
export async function belongingChanges(
  cluster: Cluster,
  type: string,
  key: string,
  except: ReadonlySet<string> = new Set(),
): Promise<Change[]> {
  const changes: Change[] = []
  for (const { resource } of cluster.behaviours.values()) {
    // A second path to the same rows adds none.
    if (resource.parentType !== type || resource.rowsOf !== resource.type || except.has(resource.type)) continue
    for await (const page of recordPages(cluster.catalog, resource.type, key)) {
      for (const record of page) {
        changes.push({ do: 'remove-record', type: resource.type, key: record.key })
        changes.push(...(await belongingChanges(cluster, resource.type, record.key)))
      }
    }
    changes.push({ do: 'check-childless', type: resource.type, parent: key })
  }
  return changes
}
