import { createFailureLimit, type LimiterStore, type FailureOptions } from '@gatewright/scope-guard'
import { Fault } from '@gatewright/kernel'
import { manualClock } from '@gatewright/kernel/testing'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import t from 'tap'

const address = '2001:db8::1'
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** A limit whose checks end only when the test ends them. */
function held(options: Parameters<typeof createFailureLimit>[1]) {
  const clock = manualClock()
  const limit = createFailureLimit('failedKeys', options, clock)
  const ends: (() => void)[] = []
  const admit = async (from: string | undefined = address): Promise<string> => {
    const ran = await limit.runWithinLimit(
      from,
      () => new Promise<string>(resolve => ends.push(() => resolve('ran'))),
    )
    return typeof ran === 'string' ? ran : ran.code
  }
  const release = async (): Promise<void> => {
    while (ends.length > 0) {
      ends.shift()?.()
      await turn()
    }
  }
  const useUp = async (from: string, points: number): Promise<void> => {
    for (let n = 0; n < points; n++) await limit.charge(from)
  }
  return { limit, admit, release, ends, useUp, clock }
}

t.test('limits the running and waiting checks of an address that failed too often', async t => {
  const { admit, release, ends, useUp } = held({ points: 2, waiting: 10, waitingPerAddress: 4 })
  await useUp('2001:db8::2', 2)
  const all = Array.from({ length: 20 }, () => admit())
  const denied = await Promise.all(all.slice(12))
  t.same(new Set(denied), new Set(['rate_limited']))
  await turn()
  t.ok(ends.length <= 8)
  await release()
  // Up to 8 are under way, fewer where the first of them took this turn's time; 4 wait.
  t.same(new Set(await Promise.all(all.slice(0, 5))), new Set(['ran']))
})

t.test('checks of an address with failures left do not wait for the low-priority queue', async t => {
  const { admit, release, ends, useUp } = held({ points: 2 })
  await useUp(address, 2)
  const slow = Array.from({ length: 100 }, () => admit())
  await turn()
  const before = ends.length
  const other = admit('192.0.2.9')
  await turn()
  t.equal(ends.length, before + 1, 'started at once')
  ends.pop()?.()
  t.equal(await other, 'ran')
  await release()
  await Promise.all(slow)
})

t.test('serves the addresses in the low-priority queue in turn', async t => {
  const { limit, useUp, admit, release } = held({ points: 1 })
  for (const from of [address, '192.0.2.9']) await useUp(from, 1)
  const order: string[] = []
  const flood = Array.from({ length: 100 }, () => admit().then(() => order.push('flood')))
  const one = limit.runWithinLimit('192.0.2.9', async () => order.push('one'))
  await release()
  await Promise.all([...flood, one])
  t.ok(order.indexOf('one') < 20, `number ${order.indexOf('one')}`)
})

t.test(
  'moves the rest of a burst to the low-priority queue once its first failures used up the budget',
  async t => {
    const { limit } = held({ points: 3, waiting: 5 })
    let running = 0
    let most = 0
    let checked = 0
    const fail = async (): Promise<'failed'> => {
      most = Math.max(most, ++running)
      checked++
      await turn()
      running--
      await limit.charge(address)
      return 'failed'
    }
    const all = await Promise.all(Array.from({ length: 1000 }, () => limit.runWithinLimit(address, fail)))
    const denials = all.filter(ran => ran !== 'failed')
    t.same(new Set(denials.map(denial => !denial.ok && denial.code)), new Set(['rate_limited']))
    const denied = denials.length
    t.ok(most <= 40, `${most} at once`)
    t.ok(checked <= 60, `${checked} of 1000 were checked`)
    t.equal(denied, 1000 - checked)
  },
)

t.test('denies with 429 and not 503 when other addresses fill the low-priority queue', async t => {
  const { admit, release, useUp } = held({ points: 1, waiting: 2, waitingPerAddress: 1 })
  const hosts = Array.from({ length: 12 }, (_, n) => `192.0.2.${n}`)
  for (const host of hosts) await useUp(host, 1)
  const all = hosts.map(host => admit(host))
  t.same(await Promise.all(all.slice(10)), ['rate_limited', 'rate_limited'])
  await release()
  t.same(new Set(await Promise.all(all.slice(0, 3))), new Set(['ran']))
})

t.test('runs every check immediately without an address, and when the limit is off', async t => {
  for (const options of ['off', { points: 1 }] as const) {
    const { limit, admit, release, ends, useUp } = held(options)
    await useUp(address, 5)
    const all = Array.from({ length: 50 }, () =>
      options === 'off' ? admit() : limit.runWithinLimit(undefined, async () => 'ran'),
    )
    await turn()
    if (options === 'off') t.equal(ends.length, 50)
    await release()
    t.same(new Set(await Promise.all(all)), new Set(['ran']))
  }
})

t.test('continues after a check that throws, and throws the same error', async t => {
  const { limit, useUp } = held({ points: 1 })
  for (const used of [0, 1]) {
    await useUp(address, used)
    const fail = () => limit.runWithinLimit(address, () => Promise.reject(new Error('store lost')))
    for (let n = 0; n < 40; n++) await t.rejects(fail(), /store lost/)
    t.equal(await limit.runWithinLimit(address, async () => 'ran'), 'ran')
  }
})

t.test('denies a waiting check that is evicted for a check of another address', async t => {
  const { admit, release, useUp } = held({ points: 1, waiting: 4 })
  for (const from of [address, '192.0.2.9']) await useUp(from, 1)
  const flood = Array.from({ length: 12 }, () => admit())
  const other = admit('192.0.2.9')
  // At most 8 run and 4 wait: the newest of them makes place.
  t.equal(await flood[11], 'rate_limited')
  await release()
  t.equal(await other, 'ran')
})

t.test('throws a fault that a check throws, and does not take it for a full queue', async t => {
  const { limit, useUp } = held({ points: 1 })
  await useUp(address, 1)
  const fail = (): never => {
    throw new Fault('ERR_STORE_UNAVAILABLE', 'store lost')
  }
  await t.rejects(limit.runWithinLimit(address, fail), { code: 'ERR_STORE_UNAVAILABLE' })
})

t.test('by default 256 checks of an address wait, and 1,024 of all', async t => {
  /** Sends 300 checks from each address, and returns how many wait after those that began at once. */
  const waiting = async (addresses: readonly string[], options: FailureOptions = {}): Promise<number> => {
    const { admit, release, ends, useUp } = held({ points: 1, ...options })
    for (const from of addresses) await useUp(from, 1)
    let denied = 0
    const all = addresses.flatMap(from =>
      Array.from({ length: 300 }, async () => {
        if ((await admit(from)) === 'rate_limited') denied++
      }),
    )
    const begun = ends.length
    await release()
    await Promise.all(all)
    return all.length - denied - begun
  }
  t.equal(await waiting(['192.0.2.1']), 256)
  t.equal(await waiting(['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5']), 1024)
  t.equal(await waiting(['192.0.2.1'], { waiting: 20 }), 20)
  t.equal(await waiting(['192.0.2.1'], { waiting: 20, waitingPerAddress: 7 }), 7)
})

/** Whether checks of the address run in the low-priority queue, which denies those that do not fit. */
async function isDemoted({ admit, release }: ReturnType<typeof held>): Promise<boolean> {
  const all = Array.from({ length: 12 }, () => admit())
  await turn()
  await release()
  return (await Promise.all(all)).includes('rate_limited')
}

t.test('by default an address may fail 59 times a minute, and again when the minute has ended', async t => {
  const made = held({ waiting: 1 })
  await made.useUp(address, 59)
  t.equal(await isDemoted(made), false)
  await made.useUp(address, 1)
  t.equal(await isDemoted(made), true)
  made.clock.advance(59_999)
  t.equal(await isDemoted(made), true)
  made.clock.advance(1)
  t.equal(await isDemoted(made), false)
})

t.test('forgets the failures of an address when the clock is set back', async t => {
  const made = held({ points: 1, waiting: 1 })
  await made.useUp(address, 1)
  t.equal(await isDemoted(made), true)
  made.clock.set(made.clock.now() - 1)
  t.equal(await isDemoted(made), false)
})

t.test('charges a failure in the shared store before it resolves', async t => {
  let charged = 0
  const store: LimiterStore = settings => {
    const limiter = new RateLimiterMemory(settings)
    const consume: typeof limiter.consume = async (...args) => {
      await turn()
      charged++
      return RateLimiterMemory.prototype.consume.apply(limiter, args)
    }
    return Object.assign(limiter, { consume })
  }
  await held({ store }).limit.charge(address)
  t.equal(charged, 1)
})

t.test('knows with its own next failure that other processes used up the budget', async t => {
  const counter = new RateLimiterMemory({ points: 3, duration: 60 })
  const options = { points: 3, waiting: 1, store: () => counter }
  const other = held(options)
  const made = held(options)
  await other.useUp(address, 2)
  t.equal(await isDemoted(made), false)
  await made.useUp(address, 1)
  t.equal(await isDemoted(made), true, 'after one failure here and two there')
})

t.test('throws for an option that it does not know', t => {
  t.throws(() => createFailureLimit('failedKeys', { wait: 1 } as never), {
    name: 'TypeError',
    message: /wait/,
  })
  t.end()
})

t.test('accepts each number up to its bounds, and names the option of a number beyond', t => {
  const make = (options: FailureOptions) => createFailureLimit('failedKeys', options)
  for (const [option, most, more] of [
    ['points', 1_000_000_000, {}],
    ['windowSeconds', 2_592_000, {}],
    ['waiting', 65_536, {}],
    ['waitingPerAddress', 65_536, { waiting: 65_536 }],
    ['waitingPerAddress', 5, { waiting: 5 }],
  ] as const) {
    for (const good of [1, most]) t.doesNotThrow(() => make({ ...more, [option]: good }), `${option} ${good}`)
    for (const bad of [0, most + 1, 1.5])
      t.throws(() => make({ ...more, [option]: bad }), {
        name: 'TypeError',
        message: new RegExp(`^createFailureLimit: ${option} must be an integer`),
      })
  }
  t.end()
})
