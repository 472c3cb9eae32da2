import t from 'tap'
import { nodeTimer, waitFor, within } from '#packages/idempotency-store/dist/execution/timer.js'

const activeTimeouts = (): number =>
  process.getActiveResourcesInfo().filter(resource => resource === 'Timeout').length

/** A signal that counts its listeners. */
function countingSignal(): { readonly stop: AbortController; readonly listeners: () => number } {
  const stop = new AbortController()
  const listeners = new Set<unknown>()
  const { addEventListener, removeEventListener } = stop.signal
  stop.signal.addEventListener = (type: string, listener: never) => {
    listeners.add(listener)
    addEventListener.call(stop.signal, type, listener)
  }
  stop.signal.removeEventListener = (type: string, listener: never) => {
    listeners.delete(listener)
    removeEventListener.call(stop.signal, type, listener)
  }
  return { stop, listeners: () => listeners.size }
}

t.test('sleeps for the given time, and leaves no listener behind', async t => {
  const { stop, listeners } = countingSignal()
  const startedAt = nodeTimer.now()
  await nodeTimer.sleep(5, stop.signal)
  // A timer of Node may fire up to a millisecond early.
  t.ok(nodeTimer.now() - startedAt >= 4)
  t.equal(listeners(), 0)
})

t.test('stops sleeping when the signal is aborted, and leaves no timer behind', async t => {
  const before = activeTimeouts()
  const stop = new AbortController()
  const slept = nodeTimer.sleep(60_000, stop.signal)
  t.equal(activeTimeouts(), before + 1)
  stop.abort()
  await slept
  t.equal(activeTimeouts(), before)
})

/** A timer whose sleeps end only when they are aborted, and the signals of its sleeps. */
function stillTimerWithSignals() {
  const signals: AbortSignal[] = []
  const sleep = async (_ms: number, stop: AbortSignal): Promise<void> => {
    signals.push(stop)
    if (!stop.aborted) await new Promise(resolve => stop.addEventListener('abort', resolve))
  }
  return { timer: { now: () => 0, sleep }, signals }
}

t.test('waits for a promise or the end of the time, and aborts the sleep in every case', async t => {
  const { timer, signals } = stillTimerWithSignals()
  t.equal(await waitFor(timer, 1000, new AbortController(), Promise.resolve('ended')), 'ended')
  const failed = waitFor(timer, 1000, new AbortController(), Promise.reject(new Error('down')))
  await t.rejects(failed, { message: 'down' })
  const stop = new AbortController()
  const stopped = waitFor(timer, 1000, stop, new Promise<string>(() => {}))
  stop.abort()
  t.equal(await stopped, undefined)
  t.same(
    signals.map(({ aborted }) => aborted),
    [true, true, true],
  )
})

t.test('stops the timer of a work when the work has ended, also with an error', async t => {
  const { timer, signals } = stillTimerWithSignals()
  t.equal(await within(timer, 1000, async () => 'done'), 'done')
  const failed = within(timer, 1000, async () => Promise.reject(new Error('down')))
  await t.rejects(failed, { message: 'down' })
  t.same(
    signals.map(({ aborted }) => aborted),
    [true, true],
  )
})
