interface Waiting<Call, Reply> {
  readonly call: Call
  readonly resolve: (reply: Reply | Promise<Reply>) => void
  readonly reject: (error: unknown) => void
}

/** How calls are sent. `alone` may throw before it has sent something; else both fail by their promise only. */
interface Commands<Call, Reply> {
  readonly alone: (call: Call) => Promise<Reply>
  /** Answers as many replies as it was given calls, or promises of them, in their order. */
  readonly together: (calls: readonly Call[]) => Promise<readonly (Reply | Promise<Reply>)[]>
}

/** Sends some calls in one command, says that it has ended, and hands the replies out. */
async function deliver<Call, Reply>(
  some: readonly Waiting<Call, Reply>[],
  { alone, together }: Commands<Call, Reply>,
  ended: () => void,
): Promise<void> {
  const [only] = some
  try {
    const replies =
      some.length === 1 && only ? [await alone(only.call)] : await together(some.map(({ call }) => call))
    ended()
    for (const [index, { resolve }] of some.entries()) resolve(replies[index] as Reply)
  } catch (error) {
    ended()
    for (const { reject } of some) reject(error)
  }
}

/** Calls `stalled` where nothing ends for `stalledMs`, to twice that, after it was told to watch. */
function stallWatch(stalledMs: number, stalled: () => void): { watch(): void; ended(): void } {
  let endedSoFar = 0
  let watched = false
  const watch = (): void => {
    if (watched) return
    watched = true
    setTimeout(look, stalledMs, endedSoFar).unref()
  }
  const look = (endedBefore: number): void => {
    watched = false
    if (endedSoFar === endedBefore) stalled()
    else watch()
  }
  return {
    watch,
    ended() {
      endedSoFar++
    },
  }
}

/** How many commands may be under way, and for how long none of them may end before calls go by themselves. */
interface Bounds {
  readonly atOnce: number
  readonly stalledMs: number
}

/**
 * Sends calls together, `most` in a command and `atOnce` commands under way at most. Those that one task of the
 * event loop makes go when it ends; one on its own waits to the end of the loop's turn for company while another
 * is under way. A call that comes while none is goes at once, unless the last one had company. A failing command
 * fails every call in it. Where all commands hang for `stalledMs`, to twice that, those that wait go one by one.
 */
export function gather<Call, Reply>(
  most: number,
  commands: Commands<Call, Reply>,
  { atOnce, stalledMs }: Bounds = { atOnce: Infinity, stalledMs: 0 },
): (call: Call) => Promise<Reply> {
  let underWay = 0
  let hadCompany = false
  let scheduled = false
  let waiting: Waiting<Call, Reply>[] = []
  const stall = stallWatch(stalledMs, () => {
    const all = waiting
    waiting = []
    for (const { call, resolve } of all) resolve(commands.alone(call))
  })
  const schedule = (): void => {
    if (scheduled || waiting.length === 0) return
    if (underWay >= atOnce) return stall.watch()
    scheduled = true
    process.nextTick(taskEnded)
  }
  const taskEnded = (): void => {
    if (waiting.length === 1 && underWay > 0) setImmediate(flush)
    else flush()
  }
  const ended = (): void => {
    underWay--
    stall.ended()
    schedule()
  }
  const flush = (): void => {
    scheduled = false
    const room = (atOnce - underWay) * most
    const going = waiting.slice(0, room)
    waiting = waiting.slice(room)
    hadCompany = going.length > 1
    for (let from = 0; from < going.length; from += most) {
      underWay++
      void deliver(going.slice(from, from + most), commands, ended)
    }
  }
  return call => {
    if (underWay === 0 && waiting.length === 0 && !hadCompany) {
      const reply = commands.alone(call)
      reply.then(ended, ended)
      underWay++
      return reply
    }
    return new Promise((resolve, reject) => {
      waiting.push({ call, resolve, reject })
      schedule()
    })
  }
}
