interface Waiting<Call, Reply> {
  readonly call: Call
  readonly resolve: (reply: Reply | Promise<Reply>) => void
  readonly reject: (error: unknown) => void
}

/**
 * Sends calls together, `most` in a command. Those that one task of the event loop makes go when it ends; one on
 * its own waits to the end of the loop's turn for company while another is under way. A call that comes while
 * none is goes at once, unless the last one had company. A failing command fails every call in it. `together`
 * answers as many replies as it was given calls, in their order; neither it nor `alone` throws but by its promise.
 */
export function gather<Call, Reply>(
  most: number,
  alone: (call: Call) => Promise<Reply>,
  together: (calls: readonly Call[]) => Promise<readonly Reply[]>,
): (call: Call) => Promise<Reply> {
  let underWay = 0
  let hadCompany = false
  let waiting: Waiting<Call, Reply>[] = []
  const returned = (reply: Reply): Reply => {
    underWay--
    return reply
  }
  const failed = (error: unknown): never => {
    underWay--
    throw error
  }
  const sendAlone = (call: Call): Promise<Reply> => {
    underWay++
    return alone(call).then(returned, failed)
  }
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
    hadCompany = all.length > 1
    for (let from = 0; from < all.length; from += most) {
      const some = all.slice(from, from + most)
      const [only] = some
      if (only && some.length === 1) only.resolve(sendAlone(only.call))
      else void deliver(some)
    }
  }
  const taskEnded = (): void => {
    if (waiting.length === 1 && underWay > 0) setImmediate(flush)
    else flush()
  }
  return call => {
    if (underWay === 0 && waiting.length === 0 && !hadCompany) return sendAlone(call)
    return new Promise((resolve, reject) => {
      if (waiting.push({ call, resolve, reject }) === 1) process.nextTick(taskEnded)
    })
  }
}
