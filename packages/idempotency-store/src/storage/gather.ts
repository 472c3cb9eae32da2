interface Waiting<Call, Reply> {
  readonly call: Call
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

/**
 * Sends calls that are made in one turn of the event loop together, `most` at a time. The first of a turn goes
 * at once, so that a call on its own waits for nothing; those that follow share the next command. A failing
 * command fails every call in it. `send` answers as many replies as it was given calls, in their order.
 */
export function gather<Call, Reply>(
  most: number,
  send: (calls: readonly Call[]) => Promise<readonly Reply[]>,
): (call: Call) => Promise<Reply> {
  let waiting: Waiting<Call, Reply>[] | undefined
  const deliver = async (together: readonly Waiting<Call, Reply>[]): Promise<void> => {
    try {
      const replies = await send(together.map(({ call }) => call))
      for (const [index, { resolve }] of together.entries()) resolve(replies[index] as Reply)
    } catch (error) {
      for (const { reject } of together) reject(error)
    }
  }
  const flush = (): void => {
    const all = waiting ?? []
    waiting = undefined
    for (let from = 0; from < all.length; from += most) void deliver(all.slice(from, from + most))
  }
  return call =>
    new Promise((resolve, reject) => {
      if (waiting) {
        waiting.push({ call, resolve, reject })
        return
      }
      waiting = []
      // Before the first is sent: a client that writes at the end of the turn then writes all of them at once.
      setImmediate(flush)
      void deliver([{ call, resolve, reject }])
    })
}
