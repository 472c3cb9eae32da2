import t from 'tap'

// Not exported by the package.
const { gather } = (await import(`${process.cwd()}/packages/idempotency-store/dist/storage/gather.js`)) as {
  gather<Call, Reply>(
    most: number,
    commands: {
      alone(call: Call): Promise<Reply>
      together(calls: readonly Call[]): Promise<readonly (Reply | Promise<Reply>)[]>
    },
    bounds?: { atOnce: number; stalledMs: number },
  ): (call: Call) => Promise<Reply>
}

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
const task = (): Promise<void> => new Promise(resolve => process.nextTick(resolve))

/** A gatherer whose commands answer when they are told to, each call by its own text. */
function gathered(most = 3, bounds?: { atOnce: number; stalledMs: number }) {
  const sent: string[] = []
  const open: { answer(): void; fail(error: Error): void }[] = []
  const command = <T>(text: string, replies: T): Promise<T> => {
    sent.push(text)
    return new Promise((resolve, reject) => {
      open.push({ answer: () => resolve(replies), fail: reject })
    })
  }
  const ask = gather<string, string>(
    most,
    { alone: call => command(call, call), together: calls => command(calls.join('+'), calls) },
    bounds,
  )
  return { ask, sent, open }
}

t.test('sends the calls of one task together when it ends, so many in a command', async t => {
  const { ask, sent, open } = gathered()
  const asked = Promise.all(['a', 'b', 'c', 'd', 'e'].map(ask))
  t.same(sent, ['a'])
  await task()
  t.same(sent, ['a', 'b+c+d', 'e'])
  for (const { answer } of open) answer()
  t.same(await asked, ['a', 'b', 'c', 'd', 'e'])
})

t.test('sends one at once while no other is under way', async t => {
  const { ask, sent, open } = gathered()
  for (const call of ['a', 'b']) {
    const asked = ask(call)
    t.equal(sent.at(-1), call)
    open.at(-1)?.answer()
    t.equal(await asked, call)
  }
})

t.test('counts no command that was never sent', async t => {
  let broken = true
  const sent: string[] = []
  const ask = gather<string, string>(3, {
    alone: call => {
      if (broken) throw new Error('no connection')
      sent.push(call)
      return Promise.resolve(call)
    },
    together: async calls => calls,
  })
  t.throws(() => ask('a'), /no connection/)
  broken = false
  const asked = ask('b')
  t.same(sent, ['b'], 'goes at once, as if nothing had been asked before')
  t.equal(await asked, 'b')
})

t.test('lets the first of a task wait for the others when the last had company', async t => {
  const { ask, sent, open } = gathered()
  const first = Promise.all(['a', 'b', 'c'].map(ask))
  await task()
  for (const { answer } of open) answer()
  await first
  const asked = Promise.all(['d', 'e'].map(ask))
  await task()
  t.same(sent, ['a', 'b+c', 'd+e'])
  open.at(-1)?.answer()
  t.same(await asked, ['d', 'e'])
  const alone = ask('f')
  await task()
  t.equal(sent.at(-1), 'f')
  open.at(-1)?.answer()
  t.equal(await alone, 'f')
  void ask('g')
  t.equal(sent.at(-1), 'g')
})

t.test('lets one on its own wait for company to the end of the turn while another is under way', async t => {
  const { ask, sent, open } = gathered()
  const asked = [ask('a')]
  await task()
  for (const call of ['b', 'c']) {
    asked.push(ask(call))
    await task()
  }
  t.same(sent, ['a'])
  await turn()
  t.same(sent, ['a', 'b+c'])
  for (const { answer } of open) answer()
  t.same(await Promise.all(asked), ['a', 'b', 'c'])
})

t.test('fails the calls of a failing command and no others, and goes on', async t => {
  const { ask, sent, open } = gathered()
  const asked = Promise.allSettled(['a', 'b', 'c', 'd'].map(ask))
  await task()
  const broken = new Error('broken')
  open[0]?.answer()
  open[1]?.fail(broken)
  t.match(await asked, [{ value: 'a' }, { reason: broken }, { reason: broken }, { reason: broken }])
  const alone = ask('e')
  await task()
  open.at(-1)?.fail(broken)
  await t.rejects(alone, broken)
  const last = ask('f')
  await task()
  t.equal(sent.at(-1), 'f')
  open.at(-1)?.answer()
  t.equal(await last, 'f')
})

t.test(
  'has no more commands under way than it may; the calls that wait go when one of them ends',
  async t => {
    const { ask, sent, open } = gathered(2, { atOnce: 2, stalledMs: 60_000 })
    const asked = Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(ask))
    await turn()
    t.same(sent, ['a', 'b+c'])
    open[1]?.answer()
    await turn()
    t.same(sent, ['a', 'b+c', 'd+e'])
    open[0]?.answer()
    await turn()
    await turn()
    t.same(sent, ['a', 'b+c', 'd+e', 'f'])
    for (const { answer } of open) answer()
    t.same(await asked, ['a', 'b', 'c', 'd', 'e', 'f'])
  },
)

t.test('hands out what is answered by a promise of its own, its error too', async t => {
  const broken = new Error('broken')
  const ask = gather<string, string>(3, {
    alone: async call => call,
    together: async ([first = '']) => [first, Promise.reject(broken)],
  })
  t.match(await Promise.allSettled(['a', 'b', 'c'].map(ask)), [
    { value: 'a' },
    { value: 'b' },
    { reason: broken },
  ])
})

t.test('lets calls go one by one when all commands hang', async t => {
  const { ask, sent, open } = gathered(2, { atOnce: 2, stalledMs: 1 })
  const hung = ['a', 'b', 'c'].map(ask)
  await task()
  t.same(sent, ['a', 'b+c'])
  const late = ['d', 'e'].map(ask)
  while (sent.length < 4) await turn()
  t.same(sent, ['a', 'b+c', 'd', 'e'])
  for (const { answer } of open) answer()
  t.same(await Promise.all([...hung, ...late]), ['a', 'b', 'c', 'd', 'e'])
})
