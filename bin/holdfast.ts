/** The command `holdfast`: each of its commands has a line here. */
import { SeedError } from '../src/core/seed/document.ts'
import { importCommand } from './import.ts'
import { replayCommand } from './replay.ts'
import { exportCommand } from './seed.ts'
import { start } from './start.ts'
import { readSettings, SettingsError, USAGE } from './settings.ts'

const [command = 'start', ...flags] = process.argv.slice(2)
try {
  if (command === 'help' || flags.includes('--help')) process.stdout.write(USAGE)
  else if (command === 'start') await start(readSettings(process.env, flags, process.cwd()))
  else if (command === 'export') await exportCommand(process.env, flags, process.cwd())
  else if (command === 'import') await importCommand(process.env, flags, process.cwd())
  else if (command === 'replay') process.exitCode = await replayCommand(process.env, flags, process.cwd())
  else throw new SettingsError(`There is no command "${command}".`)
} catch (failure) {
  if (!(failure instanceof SettingsError || failure instanceof SeedError)) throw failure
  process.stderr.write(failure instanceof SeedError ? `${failure.message}\n` : `${failure.message}\n\n${USAGE}`)
  process.exit(2)
}
