/** Requests for work on the files of volumes that have objects. */
import { type Deeds, VOLUMES } from './storage.ts'

const SCRUBS = '/api/private/scrubs'
const MODES = ['none', 'background', 'inline', 'both']

export const EFFICIENCY_DEEDS: Deeds<string> = {
  'set efficiency': ({ on }, { pick }) =>
    on(VOLUMES, 'PATCH', {
      efficiency: { compression: MODES[pick % 4], dedupe: MODES[Math.floor(pick / 4) % 4] },
    }),
  'run efficiency': ({ on }) =>
    on(VOLUMES, 'POST', { compression: true, dedupe: true, qos_policy: 'best_effort' }, '/efficiency-runs'),
  'stop efficiency': ({ on }) => on(VOLUMES, 'PATCH', { efficiency: { scanner: { state: 'idle' } } }),
  scrub: async ({ ask }) => ask('POST', SCRUBS, { aggregate: { name: 'aggr1' } }),
}
