import { nextTurn, onTaskEnd } from '#platform'
import { setBackgroundTimer } from './background-timer.ts'

/** One call that waits to be sent. */
interface WaitingCall<Call, Reply> {
  readonly call: Call
  readonly resolve: (reply: Reply | Promise<Reply>) => void
  readonly reject: (error: unknown) => void
}

/** How calls are sent to the store. */
interface Commands<Call, Reply> {
  /** Sends one call. It may throw before it has sent anything; otherwise it fails by rejecting. */
  readonly sendSingle: (call: Call) => Promise<Reply>
  /** Sends several calls in one command. Resolves to one reply, or promise of a reply, for each call in their order. */
  readonly sendBatch: (calls: readonly Call[]) => Promise<readonly (Reply | Promise<Reply>)[]>
}

/**
 * Returns a function that sends calls, several in one command of at most `batchSize`, when they are made while other
 * calls are in flight:
 *
 * - A call that is made while no command is in flight is sent immediately, unless the last batch was shared.
 * - Calls made in one task of the event loop are sent when the task ends. A single one waits until the next turn while
 *   another command is in flight, so that calls made in the same turn share one round trip.
 * - At most `maxInFlight` commands are in flight. If none of them ends for `stalledMs` (up to twice that), the waiting
 *   calls are sent one by one.
 *
 * A failed command fails all its calls. What this gains: `npm run bench -- idempotency-store` (decision 0059).
 */
export function batch<Call, Reply>(
  batchSize: number,
  commands: Commands<Call, Reply>,
  { maxInFlight, stalledMs }: { readonly maxInFlight: number; readonly stalledMs: number } = {
    maxInFlight: Infinity,
    stalledMs: 0,
  },
): (call: Call) => Promise<Reply> {
  let inFlight = 0
  let lastBatchWasShared = false
  let scheduled = false
  let waiting: WaitingCall<Call, Reply>[] = []
  // Asynchronous, so that a call which throws does not keep the following ones from being sent.
  const sendAlone = async (call: Call): Promise<Reply> => commands.sendSingle(call)
  const stallDetector = detectStalls(stalledMs, () => {
    const stalled = waiting
    waiting = []
    for (const { call, resolve } of stalled) resolve(sendAlone(call))
  })
  const schedule = (): void => {
    if (scheduled || waiting.length === 0) return
    if (inFlight >= maxInFlight) return stallDetector.watch()
    onTaskEnd(flushSoon)
    scheduled = true
  }
  const flushSoon = (): void => {
    const mayWait = waiting.length === 1 && inFlight > 0
    if (!mayWait || !nextTurn(flush)) flush()
  }
  const onCommandEnd = (): void => {
    inFlight--
    stallDetector.commandEnded()
    schedule()
  }
  const flush = (): void => {
    scheduled = false
    const limit = (maxInFlight - inFlight) * batchSize
    const calls = waiting.slice(0, limit)
    waiting = waiting.slice(limit)
    lastBatchWasShared = calls.length > 1
    for (let from = 0; from < calls.length; from += batchSize) {
      inFlight++
      void send(calls.slice(from, from + batchSize), commands, onCommandEnd)
    }
  }
  return call => {
    if (inFlight === 0 && waiting.length === 0 && !lastBatchWasShared) {
      const reply = commands.sendSingle(call)
      reply.then(onCommandEnd, onCommandEnd)
      inFlight++
      return reply
    }
    return new Promise((resolve, reject) => {
      waiting.push({ call, resolve, reject })
      schedule()
    })
  }
}

/** Sends calls in one command, and settles each with its reply. */
async function send<Call, Reply>(
  calls: readonly WaitingCall<Call, Reply>[],
  { sendSingle, sendBatch }: Commands<Call, Reply>,
  onCommandEnd: () => void,
): Promise<void> {
  const [first] = calls
  try {
    const replies =
      calls.length === 1 && first
        ? [await sendSingle(first.call)]
        : await sendBatch(calls.map(({ call }) => call))
    onCommandEnd()
    for (const [index, { resolve }] of calls.entries()) resolve(replies[index] as Reply)
  } catch (error) {
    onCommandEnd()
    for (const { reject } of calls) reject(error)
  }
}

/** Calls `onStall` if no command ends for `stalledMs`, up to twice that, after `watch` was called. */
function detectStalls(stalledMs: number, onStall: () => void): { watch(): void; commandEnded(): void } {
  let endedCommands = 0
  let watching = false
  const watch = (): void => {
    if (watching) return
    const endedBefore = endedCommands
    setBackgroundTimer(() => {
      watching = false
      if (endedCommands === endedBefore) onStall()
      else watch()
    }, stalledMs)
    watching = true
  }
  return {
    watch,
    commandEnded() {
      endedCommands++
    },
  }
}
