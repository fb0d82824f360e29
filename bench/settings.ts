/** Flags of the benchmark. */
export const sections = ['objects', 'operations', 'list', 'scale', 'management', 'volumes', 'snapshots'] as const
export type Section = (typeof sections)[number]

const SMALL_BUCKET_KEYS = 1000
const HUGE_BUCKET_KEYS = 10_000_000

export interface BenchSettings {
  readonly isQuick: boolean
  readonly only: readonly Section[]
  /** Of one line of one case in one round. */
  readonly seconds: number
  readonly rounds: number
  readonly keys: number
  readonly volumes: number
  /** Of the cluster that is compared with a small one. */
  readonly manyVolumes: number
  readonly snapshotObjects: number
  /** Objects of 4 KiB among which operations choose. */
  readonly smallObjects: number
  /** Keys of the buckets whose pages are compared. */
  readonly scaleKeys: readonly number[]
}

export const USAGE = `Usage: npm run bench -- [flags]

  --quick                a minute, with fewer keys, volumes and objects
  --only A,B             sections: ${sections.join(', ')}
  --seconds N            of one line of one case in one round (2; quick: 0.5)
  --rounds N             product and references alternate so often (2; quick: 1)
  --scale                a bucket of 10,000,000 keys too: some ten minutes, and 3 GB of disk
  --scale-keys N         keys of the large bucket (1000000; quick: 50000)
  --keys N               keys that are listed (100000; quick: 5000)
  --volumes N            volumes of the collection (1000; quick: 100)
  --many-volumes N       volumes of the large cluster (10000; quick: 1000)
  --snapshot-objects N   objects of the large snapshot (1000000; quick: 50000)
`

export function readBenchSettings(flags: readonly string[]): BenchSettings {
  const isQuick = flags.includes('--quick')
  const given = new Map<string, string>()
  for (let at = 0; at < flags.length; at++) {
    const flag = flags[at] ?? ''
    if (flag === '--quick' || flag === '--scale') continue
    const [name = '', value = flags[++at] ?? ''] = flag.split('=')
    if (!USAGE.includes(`  ${name} `) || !name.startsWith('--'))
      throw new Error(`There is no flag "${name}".\n\n${USAGE}`)
    given.set(name, value)
  }
  const number = (name: string, full: number, quick: number) => {
    const value = Number(given.get(name) ?? (isQuick ? quick : full))
    if (!(value > 0)) throw new Error(`${name} takes a number.\n\n${USAGE}`)
    return value
  }
  const only = (given.get('--only') ?? sections.join(',')).split(',')
  const known = sections.filter((section) => only.includes(section))
  if (known.length !== only.length) throw new Error(`--only takes ${sections.join(', ')}.\n\n${USAGE}`)
  return {
    isQuick,
    only: known,
    seconds: number('--seconds', 2, 0.5),
    rounds: number('--rounds', 2, 1),
    keys: number('--keys', 100_000, 5000),
    volumes: number('--volumes', 1000, 100),
    manyVolumes: number('--many-volumes', 10_000, 1000),
    snapshotObjects: number('--snapshot-objects', 1_000_000, 50_000),
    smallObjects: isQuick ? 800 : 4000,
    scaleKeys: [
      SMALL_BUCKET_KEYS,
      number('--scale-keys', 1_000_000, 50_000),
      ...(flags.includes('--scale') ? [HUGE_BUCKET_KEYS] : []),
    ],
  }
}
