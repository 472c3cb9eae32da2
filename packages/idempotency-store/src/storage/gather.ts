interface Waiting<Call, Reply> {
  readonly call: Call
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

/**
 * Sends a call at once while no other is under way, so that one on its own waits for nothing. Those that are
 * made meanwhile in one turn of the event loop go together at its end, `most` in a command. A failing command
 * fails every call in it. `together` answers as many replies as it was given calls, in their order.
 */
export function gather<Call, Reply>(
  most: number,
  alone: (call: Call) => Promise<Reply>,
  together: (calls: readonly Call[]) => Promise<readonly Reply[]>,
): (call: Call) => Promise<Reply> {
  let underWay = 0
  let waiting: Waiting<Call, Reply>[] = []
  const deliver = async (some: readonly Waiting<Call, Reply>[]): Promise<void> => {
    underWay++
    try {
      const replies = await together(some.map(({ call }) => call))
      for (const [index, { resolve }] of some.entries()) resolve(replies[index] as Reply)
    } catch (error) {
      for (const { reject } of some) reject(error)
    } finally {
      underWay--
    }
  }
  const flush = (): void => {
    const all = waiting
    waiting = []
    for (let from = 0; from < all.length; from += most) void deliver(all.slice(from, from + most))
  }
  const first = async (call: Call): Promise<Reply> => {
    underWay++
    try {
      return await alone(call)
    } finally {
      underWay--
    }
  }
  return call => {
    if (underWay === 0 && waiting.length === 0) return first(call)
    if (waiting.length === 0) setImmediate(flush)
    return new Promise((resolve, reject) => {
      waiting.push({ call, resolve, reject })
    })
  }
}
