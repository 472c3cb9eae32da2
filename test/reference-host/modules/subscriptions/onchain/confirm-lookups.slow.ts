import { randomUUID } from 'node:crypto'
import t from 'tap'
import { mine } from '../../../../harness/chain/evm.ts'
import { ask, confirm, startPaidHost, unitsOf } from '../../../harness/paid-host.ts'

const limits = {
  writesPerSessionPerMinute: 10_000,
  writesPerAccountPerMinute: 10_000,
  bootstrapPerAddressPerMinute: 10_000,
}
const paid = await startPaidHost({}, { RATE_LIMITS: JSON.stringify(limits), CHAIN_POLL_SECONDS: '300' })
t.teardown(() => paid.close())
const { chain, clock, front, receiver, pay, watch, newUser } = paid
const PATH = '/subscriptions/payin/confirm'
/** The calls to the node while `work` ran. The host's own rounds are minutes apart. */
async function nodeCalls(work: () => Promise<unknown>): Promise<number> {
  const before = front.requests.flat().length
  await work()
  return front.requests.flat().length - before
}
const hash = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`

t.test('200 repeats of one confirm call the node a few times at most', async t => {
  const user = await newUser()
  const { id } = await ask(user, { amountCents: 11 })
  const key = randomUUID()
  const calls = await nodeCalls(async () => {
    const statuses = new Set<number>()
    for (let n = 0; n < 200; n += 1) {
      statuses.add((await user.write(PATH, { payinId: id, txHash: hash(1) }, key)).status)
    }
    t.same([...statuses], [200])
  })
  t.ok(calls <= 9, `${calls} node calls`)
})

t.test('200 simultaneous confirms of one transaction share one look-up', async t => {
  const user = await newUser()
  const payin = await ask(user, { amountCents: 12 })
  const txHash = await pay(user.account, receiver, unitsOf(payin))
  await mine(chain.url)
  const confirmed = async (): Promise<number> =>
    (await user.write(PATH, { payinId: payin.id, txHash })).status
  const calls = await nodeCalls(async () => {
    const statuses = new Set(await Promise.all(Array.from({ length: 200 }, confirmed)))
    t.same([...statuses], [200])
  })
  t.ok(calls <= 9, `${calls} node calls`)
  t.match(await user.payin(payin.id), { status: 'settled', txHash })
})

t.test(
  'an account that submits many transactions stops causing calls to the node, and its payments still settle',
  async t => {
    const user = await newUser()
    const payin = await ask(user, { amountCents: 13 })
    const other = [await ask(user, { amountCents: 14 }), await ask(user, { amountCents: 15 })]
    const calls = await nodeCalls(async () => {
      for (let n = 0; n < 58; n += 1) {
        await user.write(PATH, { payinId: other[n % 2]?.id, txHash: hash(1000 + n) })
      }
    })
    t.ok(calls <= 3 * 20 + 9, `${calls} node calls`)
    const txHash = await pay(user.account, receiver, unitsOf(payin))
    await mine(chain.url)
    const spent = await nodeCalls(async () => {
      t.match(await confirm(user, payin.id, txHash), { status: 'confirming' }, 'without asking')
    })
    t.ok(spent <= 6, `${spent} node calls`)
    await watch()
    t.match(await user.payin(payin.id), { status: 'settled', txHash })
    const neighbour = await newUser()
    const theirs = await ask(neighbour, { amountCents: 16 })
    const paidBy = await pay(neighbour.account, receiver, unitsOf(theirs))
    await mine(chain.url)
    t.match(
      await confirm(neighbour, theirs.id, paidBy),
      { status: 'settled' },
      'other accounts have their own limit',
    )
    clock.advance(60_000)
    const later = await ask(user, { amountCents: 17 })
    const again = await pay(user.account, receiver, unitsOf(later))
    await mine(chain.url)
    t.match(
      await confirm(user, later.id, again),
      { status: 'settled' },
      'a minute later it has look-ups again',
    )
  },
)
