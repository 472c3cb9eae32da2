// One host process that serves one pay-in and kills itself at a given step. Arguments: store, place, mode, when,
// step, now. Exit code 0 and `served` on stdout: the step was never reached.
import { startHost, type Mode } from './host.ts'
import { openStore, type Steps, type StoreName } from './stores.ts'

const [store, place, mode, when, at, now] = process.argv.slice(2) as [
  StoreName,
  string,
  Mode,
  keyof Steps,
  string,
  string,
]
let step = 0
const die = (moment: keyof Steps) => () => {
  if (moment === 'before') step++
  if (moment === when && step === Number(at)) process.kill(process.pid, 'SIGKILL')
}
let pair = 0
const between = (): void => {
  if (++pair === Number(at) && when === 'between') process.kill(process.pid, 'SIGKILL')
}
const steps: Steps = { before: die('before'), during: die('during'), between, after: die('after') }
const opened = await openStore(store, place, steps)
const host = startHost(opened, mode, { now: () => Number(now) })
const outcome = await host()
if (!outcome.ok) throw new Error(outcome.code)
process.stdout.write('served\n')
await opened.close()
