/** The command `holdfast`. Today it starts a cluster; other commands have a line each when they come. */
import { start } from './start.ts'
import { readSettings, SettingsError, USAGE } from './settings.ts'

const [command = 'start', ...flags] = process.argv.slice(2)
try {
  if (command === 'help' || flags.includes('--help')) process.stdout.write(USAGE)
  else if (command === 'start') await start(readSettings(process.env, flags, process.cwd()))
  else throw new SettingsError(`There is no command "${command}".`)
} catch (failure) {
  if (!(failure instanceof SettingsError)) throw failure
  process.stderr.write(`${failure.message}\n\n${USAGE}`)
  process.exit(2)
}
