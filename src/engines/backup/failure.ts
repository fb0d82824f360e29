/** Why a copy was not made, is not good or was not put back: one sentence, which says what to do. */
export class BackupFailure extends Error {}
