/** The command `holdfast`: each of its commands has a line here. */
import { SeedError } from '../src/core/seed/document.ts'
import { BackupFailure } from '../src/engines/backup/failure.ts'
import { KeyFileFailure } from '../src/engines/secrets.ts'
import { backupCommand } from './backup.ts'
import { reasonOf, StartFailure } from './failures.ts'
import { importCommand } from './import.ts'
import { replayCommand } from './replay.ts'
import { rebuildCommand } from './rebuild.ts'
import { restoreCommand } from './restore.ts'
import { exportCommand } from './seed.ts'
import { start } from './start.ts'
import { readSettings, SettingsError, USAGE } from './settings.ts'

const given = process.argv.slice(2)
// Flags alone are those of start.
const [command = 'start', ...flags] = given[0]?.startsWith('--') === true ? ['start', ...given] : given
try {
  if (command === 'help' || flags.includes('--help')) process.stdout.write(USAGE)
  else if (command === 'start') await start(readSettings(process.env, flags, process.cwd()))
  else if (command === 'export') await exportCommand(process.env, flags, process.cwd())
  else if (command === 'import') await importCommand(process.env, flags, process.cwd())
  else if (command === 'replay') process.exitCode = await replayCommand(process.env, flags, process.cwd())
  else if (command === 'backup') process.exitCode = await backupCommand(process.env, flags, process.cwd())
  else if (command === 'rebuild') await rebuildCommand(process.env, flags, process.cwd())
  else if (command === 'restore') await restoreCommand(process.env, flags, process.cwd())
  else throw new SettingsError(`There is no command "${command}".`)
} catch (failure) {
  if (failure instanceof StartFailure || failure instanceof KeyFileFailure || failure instanceof BackupFailure) {
    process.stderr.write(`${failure.message}\n`)
    process.exit(1)
  }
  if (!(failure instanceof SettingsError || failure instanceof SeedError)) {
    if (command !== 'start') throw failure
    const isWanted = process.env['HOLDFAST_LOG'] === 'debug' && failure instanceof Error
    process.stderr.write(`The cluster cannot start: ${isWanted ? failure.stack : reasonOf(failure)}\n`)
    process.exit(1)
  }
  process.stderr.write(failure instanceof SeedError ? `${failure.message}\n` : `${failure.message}\n\n${USAGE}`)
  process.exit(2)
}
