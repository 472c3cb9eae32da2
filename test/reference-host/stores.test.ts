import t from 'tap'
import { runHostSuites } from '../harness/host-suites.ts'

t.setTimeout(600_000)
for (const stores of ['postgres', 'postgres+redis'] as const) {
  t.test(`the host passes its suites on ${stores} as on the embedded database`, t => runHostSuites(t, stores))
}
