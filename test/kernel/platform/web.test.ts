// What the packages keep while work waits, on runtimes that lack a function of Node or have one that throws.
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import t from 'tap'

/** Runs three pieces of work through each of the places that wait for a turn, a task or a timer. */
const PROGRAM = `
import { batch, createFairQueue, runQueued, setBackgroundTimer } from '@gatewright/kernel/internal'
import { createUseLog } from '../../../../packages/session-issuer/dist/keys/use-log.js'
import { createWriteQueue } from '../../../../packages/kernel/dist/clients/sqlite-queue.js'
const settled = promises => Promise.all(promises.map(promise => Promise.resolve(promise).then(String, String)))
const late = new Promise(resolve => setTimeout(() => resolve('never settled'), 2000))
const three = start => Promise.race([settled([1, 2, 3].map(n => new Promise(resolve => resolve(start(n))))), late])
globalThis.outcome = (async () => {
  const queue = createFairQueue({ atOnce: 1, waiting: 9, waitingPerClass: 9, turnMs: 0 })
  const writes = createWriteQueue(() => {})
  const limits = { maxInFlight: 1, stalledMs: 10 }
  const commands = { sendSingle: async n => 'one ' + n, sendBatch: async calls => calls.map(n => 'one ' + n) }
  const stalled = { sendSingle: n => (n < 2 ? new Promise(() => {}) : Promise.resolve('alone ' + n)), sendBatch: () => new Promise(() => {}) }
  const send = batch(2, commands, limits)
  const sendStalled = batch(1, stalled, limits)
  let uses = 0
  const useLog = createUseLog({ keys: { touch: async batch => void (uses += batch.length) } })
  const used = [1, 2].map(n => useLog.record('key ' + n, 0, 0))
  await useLog.flush()
  return {
    queued: await three(n => runQueued(queue, 'a', async n => 'job ' + n, n)),
    queuedLater: await three(n => runQueued(queue, 'a', async n => 'job ' + n, n)),
    written: await three(n => writes.inTransaction(async () => 'write ' + n)),
    sent: await three(n => send(n)),
    afterStall: (await three(n => (n === 1 ? (void sendStalled(n), 'stalled') : sendStalled(n)))),
    timer: await Promise.race([new Promise(resolve => setBackgroundTimer(() => resolve('rang'), 1)), late]),
    uses: [...used, uses],
  }
})()
`

/** The program as a bundler makes it for the Edge runtime of Next. */
async function program(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: PROGRAM, resolveDir: 'build/test/kernel/platform', loader: 'js' },
    bundle: true,
    format: 'iife',
    platform: 'neutral',
    conditions: ['edge-light', 'worker', 'browser'],
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

const unsupported = (name: string) => (): never => {
  throw new Error(`A Node.js API is used (${name}) which is not supported in the Edge Runtime.`)
}
/** Globals that throw as soon as they are read. */
const throwing = (...names: string[]): object =>
  Object.defineProperties(
    {},
    Object.fromEntries(names.map(name => [name, { get: unsupported(name), enumerable: true }])),
  )

const RUNTIMES: Readonly<Record<string, () => object>> = {
  'has neither': () => ({}),
  'has functions that throw': () => ({
    setImmediate: unsupported('setImmediate'),
    process: { env: {}, nextTick: unsupported('process.nextTick') },
  }),
  'has no process.nextTick': () => ({ setImmediate, process: { env: {} } }),
  'has a setImmediate that cannot be read': () => throwing('setImmediate'),
  'is Workers': () => ({ setImmediate, navigator: { userAgent: 'Cloudflare-Workers' } }),
  'has both': () => ({ setImmediate, process: { env: {}, nextTick: process.nextTick.bind(process) } }),
}

t.test('work that waits for a turn, a task or a timer ends on every runtime', async t => {
  const text = await program()
  for (const [runtime, globals] of Object.entries(RUNTIMES)) {
    const timers = new Map<number, NodeJS.Timeout>()
    const context = {
      performance,
      queueMicrotask,
      console,
      TextEncoder,
      // A number, as everywhere but on Node.
      setTimeout(run: () => void, ms: number): number {
        timers.set(timers.size, setTimeout(run, ms))
        return timers.size - 1
      },
      clearTimeout: (timer: number): void => clearTimeout(timers.get(timer)),
    }
    const own = globals()
    const all = Object.defineProperties(context, Object.getOwnPropertyDescriptors(own))
    createContext(all)
    runInContext(text, all)
    const { outcome } = all as unknown as { outcome: Promise<object> }
    t.same(
      JSON.parse(JSON.stringify(await outcome)),
      {
        queued: ['job 1', 'job 2', 'job 3'],
        queuedLater: ['job 1', 'job 2', 'job 3'],
        written: ['write 1', 'write 2', 'write 3'],
        sent: ['one 1', 'one 2', 'one 3'],
        afterStall: ['stalled', 'alone 2', 'alone 3'],
        timer: 'rang',
        uses: [false, false, 2],
      },
      `a runtime that ${runtime}`,
    )
  }
})
