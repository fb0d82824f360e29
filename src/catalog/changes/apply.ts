import type { DatabaseSync } from 'node:sqlite'
import { CommitRefused } from '../../ports/catalog.ts'
import type { Change, Outcome } from '../../ports/catalog.ts'
import { amendments } from './amendments.ts'
import { blobChanges } from '../blobs.ts'
import { cloneChanges } from './clone-changes.ts'
import type { Ledger } from '../ledger.ts'
import { listedKeys } from '../listed-keys.ts'
import { logChanges } from './log-changes.ts'
import { moveChanges } from './move-changes.ts'
import { objectChanges } from './object-changes.ts'
import { quotaChanges } from '../quotas.ts'
import { rangeRestoreChanges } from './range-restore-changes.ts'
import { recordChanges } from './record-changes.ts'
import { Refusal } from '../refusal.ts'
import { restoreChanges } from './restore-changes.ts'
import { sampleChanges } from '../samples.ts'
import { snapshotChanges } from './snapshot-changes.ts'
import { uploadChanges } from './upload-changes.ts'
import { volumeChanges } from './volume-changes.ts'

export type Apply = (changes: readonly Change[]) => Outcome[]

/** Makes the function that carries out the changes of one commit inside the open transaction. */
export function applyTo(db: DatabaseSync, ledger: Ledger): Apply {
  const records = recordChanges(db, ledger)
  const blobs = blobChanges(db, ledger)
  const quotas = quotaChanges(db, ledger)
  const listed = listedKeys(db, ledger)
  const objects = objectChanges(db, ledger, blobs, quotas, listed)
  const amend = amendments(db, ledger, blobs, objects)
  const uploads = uploadChanges(db, ledger, blobs, objects, quotas)
  const volumes = volumeChanges(db, ledger, quotas, listed)
  const snapshots = snapshotChanges(db, ledger, blobs)
  const restores = restoreChanges(db, ledger, { blobs, quotas, listed })
  const ranges = rangeRestoreChanges(db, ledger, { blobs, objects, quotas, listed })
  const cloneRows = cloneChanges(db, ledger, { blobs, quotas, listed })
  const moves = moveChanges(db, ledger)
  const logs = logChanges(db, ledger)
  const samples = sampleChanges(ledger)

  function applyOne(change: Change): Outcome {
    switch (change.do) {
      case 'put-record':
        return records.put(change)
      case 'remove-record':
        return records.remove(change)
      case 'retype-records':
        return records.retype(change)
      case 'check-record':
        return records.check(change)
      case 'check-childless':
        return records.checkChildless(change)
      case 'check-unnamed':
        return records.checkUnnamed(change)
      case 'check-unwritten':
        return records.checkUnwritten(change)
      case 'check-space':
        // The writer refuses it before, where there is none.
        return {}
      case 'open-volume':
        return volumes.openVolume(change)
      case 'place-volume':
        return volumes.placeVolume(change)
      case 'resize-volume':
        return volumes.resizeVolume(change)
      case 'protect-volume':
        return volumes.protectVolume(change)
      case 'replicate-into':
        return volumes.replicateInto(change)
      case 'close-volume':
        return volumes.closeVolume(change)
      case 'set-quota':
        return quotas.set(change)
      case 'clear-quotas':
        return quotas.clear(change)
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
      case 'clone-rows':
        return cloneRows(change)
      case 'count-as-own':
        return volumes.countAsOwn(change)
      case 'begin-range-restore':
        return ranges.begin(change)
      case 'restore-range':
        return ranges.rows(change)
      case 'finish-range-restore':
        return ranges.finish(change)
      case 'abandon-range-restore':
        return ranges.abandon(change)
      case 'begin-move':
        return moves.begin(change)
      case 'move-volume':
        return moves.move(change)
      case 'drop-arrivals':
        return moves.dropArrivals(change)
      case 'end-move':
        return moves.end(change)
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
      case 'give-up-blobs':
        return blobs.giveUp(change)
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
    ledger.replicated = undefined
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
