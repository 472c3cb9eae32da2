import { type Command, UsageError } from '@gatewright/host/cli'
import { decisionOf, listLostRuns, resolveLostRun } from '../operator/lost-runs.ts'
import type { Services } from '../services/services.ts'

/** How many lost runs `runs lost` prints at most. */
const MOST = 1000

/** Commands on writes with an idempotency key whose outcome is unknown. */
export const runCommands: readonly Command<Services>[] = [
  {
    name: 'runs lost',
    takes: [],
    summary: `List writes whose outcome is unknown: their clients get outcome_unknown. At most ${MOST}`,
    example: '',
    async run({ backend, clock }) {
      const data = await listLostRuns(backend.lostRuns, MOST, clock.now())
      const rows = data.map(each => [each.beganAt, each.leaseEndedAt ?? '-', each.operationId, each.run])
      return {
        data,
        table: [['BEGAN', 'LEASE ENDED', 'OPERATION ID', 'RUN'], ...rows],
        empty: 'No lost runs.',
      }
    },
  },
  {
    name: 'runs resolve',
    takes: ['RUN', 'OUTCOME'],
    options: { data: 'with completed: the JSON object that retries of the client get as data; default {}' },
    summary: 'Decide about a lost run: never_happened frees its key, completed answers retries',
    example: '3qJ9sV0cY1bN4xWtYkLs7PdZ2aRmQe5uHf8gTi6oKjw.1763836800000 never_happened',
    confirm: 'After never_happened a retry runs the write again: first make sure that it took no effect.',
    async run({ backend, clock }, { positional: [run = '', outcome = ''], options }) {
      const decision = decisionOf(outcome, parseData(options['data'] ?? '{}'))
      if (!decision) throw new UsageError('OUTCOME must be never_happened or completed')
      if (!(await resolveLostRun(backend.lostRuns, run, decision, clock.now())))
        throw new UsageError(`${run} is not lost, or somebody has decided about it: see gatewright runs lost`)
      return { data: { run, outcome }, lines: [`${run}: ${outcome}.`] }
    },
  },
]

function parseData(text: string): unknown {
  try {
    const data: unknown = JSON.parse(text)
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data
  } catch {
    // The error is thrown below.
  }
  throw new UsageError('--data must be a JSON object')
}
