import { batch } from '@gatewright/kernel/internal'
import t from 'tap'

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
const task = (): Promise<void> => new Promise(resolve => process.nextTick(resolve))

/** Batches calls into commands that reply when the test says so, to each call with its own text. */
function recording(batchSize = 3, limits?: { maxInFlight: number; stalledMs: number }) {
  const sent: string[] = []
  const open: { reply(): void; fail(error: Error): void }[] = []
  const command = <T>(text: string, replies: T): Promise<T> => {
    sent.push(text)
    return new Promise((resolve, reject) => {
      open.push({ reply: () => resolve(replies), fail: reject })
    })
  }
  const send = batch<string, string>(
    batchSize,
    { sendSingle: call => command(call, call), sendBatch: calls => command(calls.join('+'), calls) },
    limits,
  )
  return { send, sent, open }
}

t.test('sends the calls of one task in batches when the task ends', async t => {
  const { send, sent, open } = recording()
  const replies = Promise.all(['a', 'b', 'c', 'd', 'e'].map(send))
  t.same(sent, ['a'])
  await task()
  t.same(sent, ['a', 'b+c+d', 'e'])
  for (const { reply } of open) reply()
  t.same(await replies, ['a', 'b', 'c', 'd', 'e'])
})

t.test('sends a call immediately while none is in flight', async t => {
  const { send, sent, open } = recording()
  for (const call of ['a', 'b']) {
    const reply = send(call)
    t.equal(sent.at(-1), call)
    open.at(-1)?.reply()
    t.equal(await reply, call)
  }
})

t.test('sends the calls after a stall one by one, also if one of them throws', async t => {
  const send = batch<string, string>(
    1,
    {
      sendSingle: call => {
        if (call === 'b') throw new Error('no connection')
        return call === 'a' ? new Promise<never>(() => {}) : Promise.resolve(call)
      },
      sendBatch: async calls => calls,
    },
    { maxInFlight: 1, stalledMs: 1 },
  )
  void send('a')
  // The timer of a stall does not keep the process running.
  const running = setInterval(() => {}, 1000)
  const [second, third] = await Promise.allSettled([send('b'), send('c')])
  clearInterval(running)
  t.match(second, { status: 'rejected', reason: { message: 'no connection' } })
  t.match(third, { status: 'fulfilled', value: 'c' })
})

t.test('does not count a command that was never sent', async t => {
  let broken = true
  const sent: string[] = []
  const send = batch<string, string>(3, {
    sendSingle: call => {
      if (broken) throw new Error('no connection')
      sent.push(call)
      return Promise.resolve(call)
    },
    sendBatch: async calls => calls,
  })
  t.throws(() => send('a'), /no connection/)
  broken = false
  const reply = send('b')
  t.same(sent, ['b'], 'sent immediately, as if there had been no call before')
  t.equal(await reply, 'b')
})

t.test('lets the first call of a task wait for the others if the last batch was shared', async t => {
  const { send, sent, open } = recording()
  const first = Promise.all(['a', 'b', 'c'].map(send))
  await task()
  for (const { reply } of open) reply()
  await first
  const replies = Promise.all(['d', 'e'].map(send))
  await task()
  t.same(sent, ['a', 'b+c', 'd+e'])
  open.at(-1)?.reply()
  t.same(await replies, ['d', 'e'])
  const single = send('f')
  await task()
  t.equal(sent.at(-1), 'f')
  open.at(-1)?.reply()
  t.equal(await single, 'f')
  void send('g')
  t.equal(sent.at(-1), 'g')
})

t.test('lets a single call wait until setImmediate while another is in flight', async t => {
  const { send, sent, open } = recording()
  const replies = [send('a')]
  await task()
  for (const call of ['b', 'c']) {
    replies.push(send(call))
    await task()
  }
  t.same(sent, ['a'])
  await turn()
  t.same(sent, ['a', 'b+c'])
  for (const { reply } of open) reply()
  t.same(await Promise.all(replies), ['a', 'b', 'c'])
})

t.test('fails the calls of a failed command and no others, and continues', async t => {
  const { send, sent, open } = recording()
  const replies = Promise.allSettled(['a', 'b', 'c', 'd'].map(send))
  await task()
  const broken = new Error('broken')
  open[0]?.reply()
  open[1]?.fail(broken)
  t.match(await replies, [{ value: 'a' }, { reason: broken }, { reason: broken }, { reason: broken }])
  const single = send('e')
  await task()
  open.at(-1)?.fail(broken)
  await t.rejects(single, broken)
  const last = send('f')
  await task()
  t.equal(sent.at(-1), 'f')
  open.at(-1)?.reply()
  t.equal(await last, 'f')
})

t.test('has at most maxInFlight commands in flight, and sends waiting calls when one ends', async t => {
  const { send, sent, open } = recording(2, { maxInFlight: 2, stalledMs: 60_000 })
  const replies = Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(send))
  await turn()
  t.same(sent, ['a', 'b+c'])
  open[1]?.reply()
  await turn()
  t.same(sent, ['a', 'b+c', 'd+e'])
  open[0]?.reply()
  await turn()
  await turn()
  t.same(sent, ['a', 'b+c', 'd+e', 'f'])
  for (const { reply } of open) reply()
  t.same(await replies, ['a', 'b', 'c', 'd', 'e', 'f'])
})

t.test('settles a call with the promise that a batch returns for it', async t => {
  const broken = new Error('broken')
  const send = batch<string, string>(3, {
    sendSingle: async call => call,
    sendBatch: async ([first = '']) => [first, Promise.reject(broken)],
  })
  t.match(await Promise.allSettled(['a', 'b', 'c'].map(send)), [
    { value: 'a' },
    { value: 'b' },
    { reason: broken },
  ])
})

t.test('sends waiting calls one by one when all commands hang', async t => {
  const { send, sent, open } = recording(2, { maxInFlight: 2, stalledMs: 1 })
  const hung = ['a', 'b', 'c'].map(send)
  await task()
  t.same(sent, ['a', 'b+c'])
  const late = ['d', 'e'].map(send)
  while (sent.length < 4) await turn()
  t.same(sent, ['a', 'b+c', 'd', 'e'])
  for (const { reply } of open) reply()
  t.same(await Promise.all([...hung, ...late]), ['a', 'b', 'c', 'd', 'e'])
})

t.test('counts a single call that has waited as in flight until it is answered', async t => {
  const { send, sent, open } = recording(2, { maxInFlight: 1, stalledMs: 60_000 })
  const replies = Promise.all(['a', 'b'].map(send))
  await turn()
  open[0]?.reply()
  await turn()
  t.same(sent, ['a', 'b'])
  const last = send('c')
  await turn()
  t.same(sent, ['a', 'b'], 'the second command has no reply yet')
  for (const _ of [1, 2]) {
    open.at(-1)?.reply()
    await turn()
  }
  t.same([...(await replies), await last], ['a', 'b', 'c'])
})

t.test('takes commands for stalled only if none has ended meanwhile, and again each time', async t => {
  const timers: (readonly [run: () => void, ms: number])[] = []
  t.intercept(globalThis, 'setTimeout', {
    value: (check: (argument: unknown) => void, ms: number, argument: unknown) => {
      timers.push([() => check(argument), ms])
      return { unref: () => {} }
    },
  })
  /** Runs the only timer that was set, after its time. */
  const timeUp = async (): Promise<void> => {
    await turn()
    const [timer, ...more] = timers.splice(0)
    t.same([timer?.[1], ...more], [1000])
    timer?.[0]()
  }
  const { send, sent, open } = recording(1, { maxInFlight: 1, stalledMs: 1000 })
  const replies = Promise.all(['a', 'b', 'c'].map(send))
  await turn()
  open[0]?.reply()
  await turn()
  t.same(sent, ['a', 'b'])
  await timeUp()
  t.same(sent, ['a', 'b'], 'a command has ended since the check began')
  await timeUp()
  t.same(sent, ['a', 'b', 'c'])
  const late = send('d')
  await timeUp()
  t.same(sent, ['a', 'b', 'c', 'd'], 'also when commands have stalled before')
  for (const { reply } of open) reply()
  t.same([...(await replies), await late], ['a', 'b', 'c', 'd'])
})
