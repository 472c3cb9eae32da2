// A random tree of keys, sessions and cards on a real host: what one of the callers can pay with the cards that it may reveal.
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import fc from 'fast-check'
import t from 'tap'
import { cardUser, keyBelow } from '../../harness/card-payments.ts'
import { revealed, sessionOwner, userOwner, type CardOwner } from '../../harness/cards.ts'
import { bearer, openTestHost, type TestHost } from '../../../harness/host.ts'

const pick = fc.nat({ max: 20 })
const cap = fc.constantFrom(200, 300, undefined)
/** The arbitrary of one tree. */
const tree = fc.record({
  steps: fc.array(
    fc.oneof(
      fc.record({ do: fc.constant('key' as const), by: pick, cap }),
      fc.record({ do: fc.constant('session' as const), by: pick, cap }),
      { weight: 2, arbitrary: fc.record({ do: fc.constant('card' as const), by: pick, cap }) },
    ),
    { minLength: 6, maxLength: 12 },
  ),
  caller: pick,
})
type Tree = typeof tree extends fc.Arbitrary<infer T> ? T : never

interface Caller {
  readonly token: string
  readonly user: CardOwner
  /** The lowest daily cap of its policies. */
  readonly capCents: number
}

/** The outcome of a tree. */
interface Outcome {
  readonly capCents: number
  readonly spentCents: number
  readonly revealed: number
  readonly denied: number
}

/** Makes a tree in an account of its own, lets one caller reveal what it may, and pays with that as much as is accepted. */
async function playTree(
  host: TestHost,
  clock: ManualClock,
  { steps, caller: picked }: Tree,
): Promise<Outcome> {
  const owner = await userOwner(host, {}, clock.now())
  const merchant = cardUser(host.send, owner.token)
  await merchant.fund(100_000)
  const callers: Caller[] = [{ token: owner.token, user: owner, capCents: Infinity }]
  const cards: string[] = []
  const add = (token: string, by: Caller, capCents: number | undefined): void => {
    callers.push({
      token,
      user: sessionOwner(host, token),
      capCents: Math.min(by.capCents, capCents ?? Infinity),
    })
  }
  for (const { do: kind, by: index, cap: capCents } of steps) {
    const by = callers[index % callers.length] as Caller
    const policy = capCents === undefined ? {} : { dailySpendCapCents: capCents }
    if (kind === 'card') cards.push(by.user.idOf(await by.user.make()))
    else if (kind === 'key') add((await keyBelow(host.send, by.token, policy)).token, by, capCents)
    else {
      const opened = await host.send('/user/v1/sessions', { body: { policy }, headers: bearer(by.token) })
      add(opened.body['sessionToken'] as string, by, capCents)
    }
  }
  const caller = callers[picked % callers.length] as Caller
  const open = []
  for (const id of cards) if ((await revealed(caller.user, id)).response.status === 200) open.push(id)
  let spentCents = 0
  for (const id of open)
    for (let n = 0; n < 4; n += 1) {
      const { status } = await merchant.pay(id, { amountCents: 100 })
      if (status === 'authorized') spentCents += 100
    }
  return {
    capCents: caller.capCents,
    spentCents,
    revealed: open.length,
    denied: cards.length - open.length,
  }
}

/** Defines the test that random trees keep the caps of their callers, on a host of its own. */
export async function testTrees(options: {
  readonly numRuns: number
  readonly seed?: number
}): Promise<void> {
  const clock = manualClock(Date.now())
  const host = await openTestHost(t, { RATE_LIMITS: 'off' }, clock)
  t.test('no caller pays more in a day with the cards that it may reveal than its lowest cap', async t => {
    const seen = { revealed: 0, denied: 0, spentCents: 0 }
    await fc.assert(
      fc.asyncProperty(tree, async each => {
        const { capCents, ...outcome } = await playTree(host, clock, each)
        if (outcome.spentCents > capCents)
          throw new Error(`${outcome.spentCents} cents are spent under a cap of ${capCents}`)
        for (const name of ['revealed', 'denied', 'spentCents'] as const) seen[name] += outcome[name]
      }),
      options,
    )
    for (const [what, sum] of Object.entries(seen)) t.ok(sum > 0, `${what} ${sum}`)
    t.same(host.failures, [])
  })
}
