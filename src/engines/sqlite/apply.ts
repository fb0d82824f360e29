import type { DatabaseSync } from 'node:sqlite'
import { CommitRefused } from '../../ports/catalog.ts'
import type { Change, Outcome } from '../../ports/catalog.ts'
import { amendments } from './amendments.ts'
import { blobChanges } from './blobs.ts'
import type { Ledger } from './ledger.ts'
import { logChanges } from './log-changes.ts'
import { objectChanges } from './object-changes.ts'
import { recordChanges } from './record-changes.ts'
import { Refusal } from './refusal.ts'
import { restoreChanges } from './restore-changes.ts'
import { sampleChanges } from './samples.ts'
import { snapshotChanges } from './snapshot-changes.ts'
import { uploadChanges } from './upload-changes.ts'
import { volumeChanges } from './volume-changes.ts'

export type Apply = (changes: readonly Change[]) => Outcome[]

/** Makes the function that carries out the changes of one commit inside the open transaction. */
export function applyTo(db: DatabaseSync, ledger: Ledger): Apply {
  const records = recordChanges(db, ledger)
  const blobs = blobChanges(db, ledger)
  const objects = objectChanges(db, ledger, blobs)
  const amend = amendments(db, ledger, blobs, objects)
  const uploads = uploadChanges(db, ledger, blobs, objects)
  const volumes = volumeChanges(db, ledger)
  const snapshots = snapshotChanges(db, ledger, blobs)
  const restores = restoreChanges(db, ledger, blobs)
  const logs = logChanges(db, ledger)
  const samples = sampleChanges(ledger)

  function applyOne(change: Change): Outcome {
    switch (change.do) {
      case 'put-record':
        return records.put(change)
      case 'remove-record':
        return records.remove(change)
      case 'check-record':
        return records.check(change)
      case 'check-childless':
        return records.checkChildless(change)
      case 'open-volume':
        return volumes.openVolume(change)
      case 'resize-volume':
        return volumes.resizeVolume(change)
      case 'close-volume':
        return volumes.closeVolume(change)
      case 'take-snapshot':
        return snapshots.take(change)
      case 'drop-snapshot':
        return snapshots.drop(change)
      case 'reclaim':
        return snapshots.reclaim(change)
      case 'begin-restore':
        return restores.begin(change)
      case 'restore-rows':
        return restores.rows(change)
      case 'finish-restore':
        return restores.finish(change)
      case 'open-bucket':
        return volumes.openBucket(change)
      case 'limit-bucket':
        return volumes.limitBucket(change)
      case 'version-bucket':
        return volumes.versionBucket(change)
      case 'close-bucket':
        return volumes.closeBucket(change)
      case 'put-object':
        return objects.put(change)
      case 'delete-object':
        return objects.delete(change)
      case 'amend-object':
        return amend(change)
      case 'open-upload':
        return uploads.open(change)
      case 'put-part':
        return uploads.putPart(change)
      case 'complete-upload':
        return uploads.complete(change)
      case 'abort-upload':
        return uploads.abort(change)
      case 'drop-blobs':
        return blobs.drop(change)
      case 'store-blobs':
        return blobs.store(change)
      case 'share-blob':
        return blobs.share(change)
      case 'note-blob':
        return blobs.note(change)
      case 'append-log':
        return logs.append(change)
      case 'count':
        return logs.count(change)
      case 'drop-counters':
        return logs.dropCounters(change)
      case 'put-samples':
        return samples.put(change)
      case 'drop-samples':
        return samples.drop(change)
      default:
        throw new TypeError(`No such change: ${String((change as { do: unknown }).do)}.`)
    }
  }

  return (changes) => {
    const outcomes: Outcome[] = []
    for (const change of changes) {
      try {
        outcomes.push(applyOne(change))
      } catch (failure) {
        if (failure instanceof Refusal) throw new CommitRefused(failure.reason, outcomes.length, failure.scope)
        throw failure
      }
    }
    return outcomes
  }
}
