interface Waiting<Call, Reply> {
  readonly call: Call
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

/**
 * Sends calls together, `most` in a command: those that one task of the event loop makes go when it ends. One
 * on its own goes then too while no other is under way, so that it waits for nothing; else it waits for company
 * to the end of the loop's turn. A failing command fails every call in it. `together` answers as many replies
 * as it was given calls, in their order.
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
  const returned = (): void => {
    underWay--
  }
  const flush = (): void => {
    const all = waiting
    waiting = []
    const [only] = all
    if (only && all.length === 1) {
      underWay++
      void alone(only.call).then(only.resolve, only.reject).then(returned)
    } else for (let from = 0; from < all.length; from += most) void deliver(all.slice(from, from + most))
  }
  const taskEnded = (): void => {
    if (waiting.length === 1 && underWay > 0) setImmediate(flush)
    else flush()
  }
  return call =>
    new Promise((resolve, reject) => {
      if (waiting.push({ call, resolve, reject }) === 1) process.nextTick(taskEnded)
    })
}
