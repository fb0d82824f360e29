/** The command `holdfast`: each of its commands has a line here. */
import { SeedError } from '../src/core/seed/document.ts'
import { BackupFailure } from '../src/engines/backup/failure.ts'
import { KeyFileFailure } from '../src/engines/secrets.ts'
import { reasonOf, StartFailure } from './failures.ts'
import { readSettings, SettingsError, USAGE } from './settings.ts'

type Command = (environment: NodeJS.ProcessEnv, flags: readonly string[], folder: string) => Promise<number | void>

/** Each with what it needs, and no more: all of the product takes half a second to load. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  async start() {
    const { start } = await import('./start.ts')
    return (environment, flags, folder) => start(readSettings(environment, flags, folder))
  },
  export: async () => (await import('./seed.ts')).exportCommand,
  import: async () => (await import('./import.ts')).importCommand,
  replay: async () => (await import('./replay.ts')).replayCommand,
  backup: async () => (await import('./backup.ts')).backupCommand,
  rebuild: async () => (await import('./rebuild.ts')).rebuildCommand,
  restore: async () => (await import('./restore.ts')).restoreCommand,
}

const given = process.argv.slice(2)
// Flags alone are those of start.
const [command = 'start', ...flags] = given[0]?.startsWith('--') === true ? ['start', ...given] : given
try {
  if (command === 'help' || flags.includes('--help')) process.stdout.write(USAGE)
  else {
    const load = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined
    if (load === undefined) throw new SettingsError(`There is no command "${command}".`)
    const run = await load()
    // The exit code, of commands that have more than one for success.
    const code = await run(process.env, flags, process.cwd())
    if (typeof code === 'number') process.exitCode = code
  }
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
