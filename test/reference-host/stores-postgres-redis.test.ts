import t from 'tap'
import { runHostSuites } from '../harness/host-suites.ts'

t.setTimeout(900_000)
t.test('the host passes its suites on postgres with redis as on the embedded database', t =>
  runHostSuites(t, 'postgres+redis'),
)
