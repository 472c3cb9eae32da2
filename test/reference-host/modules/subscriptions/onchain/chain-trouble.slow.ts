import t from 'tap'
import {
  mine,
  newestBlockTime,
  rpc,
  snapshot,
  stampNextBlock,
  withoutMining,
} from '../../../../harness/chain/evm.ts'
import type { WirePayin } from '../../../harness/money.ts'
import { ask, causesOf, confirm, startPaidHost, unitsOf, type ChainUser } from '../../../harness/paid-host.ts'
import type { RpcCall, RpcEntry } from '../../../../harness/chain/rpc-front.ts'

const paid = await startPaidHost()
t.teardown(() => paid.close())
const { chain, clock, front, host, receiver, pay, watch, expire, newUser } = paid
const { url } = chain
/** How much later a reorganised block is: the clock of the chain has gone on, also where the block is taken back. */
const LATER_MS = 10_000
t.afterEach(() => {
  front.response = (_, real) => real()
})
const isLatest = ({ method, params }: RpcCall): boolean =>
  method === 'eth_getBlockByNumber' && params[0] === 'latest'

/** Mines the payment of a pay-in again, in a later block after a transaction of the neighbour. Returns its log index there. */
async function mineElsewhere(
  txHash: string,
  [neighbour, user]: readonly [neighbour: ChainUser, user: ChainUser],
  payin: WirePayin,
  at: number,
): Promise<number> {
  await stampNextBlock(url, Math.max(at + LATER_MS, (await newestBlockTime(url)) + 1000))
  await withoutMining(url, async () => {
    await paid.usdc.transfer(neighbour.account, receiver, 1n)
    await paid.usdc.transfer(user.account, receiver, unitsOf(payin))
    await mine(url)
  })
  const { logs } = await rpc<{ logs: { logIndex: string }[] }>(url, 'eth_getTransactionReceipt', txHash)
  return Number(logs[0]?.logIndex)
}

t.test(
  'an invented transaction that no node can look up delays no other pay-in and fails at its deadline',
  async t => {
    const [user, vandal] = [await newUser(), await newUser()]
    const junk = await ask(vandal, { amountCents: 7 })
    front.response = (call, real) =>
      call.method === 'eth_getTransactionReceipt' ? { error: { code: -32000, message: 'pruned' } } : real()
    await confirm(vandal, junk.id, `0x${'00'.repeat(32)}`)
    const payin = await ask(user, { amountCents: 31 })
    await pay(user.account, receiver, unitsOf(payin))
    await mine(url)
    await watch()
    t.match(await user.payin(payin.id), { status: 'settled' })
    clock.set(Date.parse(junk.expiresAt) + 120_000)
    await stampNextBlock(url, clock.now())
    await mine(url)
    await watch()
    await expire()
    t.match(await (await vandal.renewed()).payin(junk.id), { status: 'failed' })
    t.ok(host.failures.length > 0, 'and it is reported')
  },
)

t.test('ignores one wrong newest block after the next correct one', async t => {
  const user = await newUser()
  const payin = await ask(user, { amountCents: 32 })
  front.response = async (call, real): Promise<RpcEntry> => {
    if (!isLatest(call)) return real()
    const { result } = (await real()) as { result: object }
    return { result: { ...result, number: '0xffffffff', timestamp: '0xffffffff' } }
  }
  await t.rejects(watch(), { code: 'ERR_RPC_UNAVAILABLE' })
  front.response = (_, real) => real()
  await pay(user.account, receiver, unitsOf(payin))
  await mine(url)
  await watch()
  t.match(await user.payin(payin.id), { status: 'settled' })
})

t.test('settles nothing early because of a wrong newest block, also with many blocks to read', async t => {
  const user = await newUser()
  // A node that rejects wide ranges makes the watcher read a few blocks at a time.
  front.response = async (call, real): Promise<RpcEntry> =>
    call.method === 'eth_getLogs' ? { error: { code: -32005, message: 'too many blocks' } } : real()
  for (let round = 0; round < 12; round += 1) await t.rejects(watch(), { code: 'ERR_RPC_UNAVAILABLE' })
  front.response = (_, real) => real()
  await mine(url, 100)
  clock.set(await newestBlockTime(url))
  const later = await user.renewed()
  const payin = await ask(later, { amountCents: 36 })
  await pay(user.account, receiver, unitsOf(payin))
  front.response = async (call, real): Promise<RpcEntry> => {
    if (!isLatest(call)) return real()
    const { result } = (await real()) as { result: object }
    return { result: { ...result, number: '0xffffff' } }
  }
  for (let round = 0; round < 3; round += 1) await t.rejects(watch(), { code: 'ERR_RPC_UNAVAILABLE' })
  t.match(await later.payin(payin.id), { status: 'awaiting_payment' })
  front.response = (_, real) => real()
  await watch()
  t.match(await later.payin(payin.id), { status: 'confirming' })
  await mine(url)
  await watch()
  t.match(await later.payin(payin.id), { status: 'settled' })
})

t.test('a lagging node makes no transfer look lost', async t => {
  const user = await newUser()
  const payin = await ask(user, { amountCents: 33 })
  await pay(user.account, receiver, unitsOf(payin))
  await watch()
  front.response = async (call, real): Promise<RpcEntry> => {
    if (!isLatest(call)) return call.method === 'eth_getTransactionReceipt' ? { result: null } : real()
    const { number } = ((await real()) as { result: { number: string } }).result
    return { result: await rpc(url, call.method, `0x${(Number(number) - 1).toString(16)}`, false) }
  }
  for (let round = 0; round < 3; round += 1) {
    await t.rejects(watch(), { code: 'ERR_RPC_UNAVAILABLE', message: /was read before/ })
  }
  t.same(causesOf(await user.payin(payin.id)), ['created', 'seen'])
})

t.test(
  'a transaction that settled a pay-in settles no other one, wherever a reorganisation mines it',
  async t => {
    const [user, neighbour] = [await newUser(), await newUser()]
    const [first, second] = [await ask(user, { amountCents: 71 }), await ask(user, { amountCents: 71 })]
    const revert = await snapshot(url)
    const at = clock.now() + 5000
    const txHash = await pay(user.account, receiver, unitsOf(first), undefined, at)
    await mine(url)
    await watch()
    t.match(await user.payin(first.id), { status: 'settled', txHash })
    await revert()
    t.equal(await mineElsewhere(txHash, [neighbour, user], first, at), 1, 'at another log index')
    await mine(url, 5)
    await watch()
    await watch()
    await confirm(user, second.id, txHash)
    await watch()
    t.match(await user.payin(second.id), { status: 'confirming' })
    t.equal(await user.balance(), 71)
  },
)

t.test('a transfer that a reorganisation moves stays with the pay-in that named it', async t => {
  const [user, neighbour] = [await newUser(), await newUser()]
  const [older, named] = [await ask(user, { amountCents: 73 }), await ask(user, { amountCents: 73 })]
  const revert = await snapshot(url)
  const at = clock.now() + 5000
  const txHash = await pay(user.account, receiver, unitsOf(named), undefined, at)
  await confirm(user, named.id, txHash)
  t.match(await user.payin(named.id), { status: 'confirming', txHash })
  await revert()
  t.equal(await mineElsewhere(txHash, [neighbour, user], named, at), 1, 'at another log index')
  await watch()
  await mine(url)
  await watch()
  t.match(await user.payin(older.id), { status: 'awaiting_payment' })
  t.match(await user.payin(named.id), { status: 'settled', txHash })
})

t.test(
  'a transfer that a reorganisation moves is not taken by a second pay-in that names it first',
  async t => {
    const [user, neighbour] = [await newUser(), await newUser()]
    const [named, second] = [await ask(user, { amountCents: 74 }), await ask(user, { amountCents: 74 })]
    const revert = await snapshot(url)
    const at = clock.now() + 5000
    const txHash = await pay(user.account, receiver, unitsOf(named), undefined, at)
    await confirm(user, named.id, txHash)
    await confirm(user, second.id, txHash)
    t.same(causesOf(await user.payin(named.id)), ['created', 'submitted', 'seen'])
    t.same(causesOf(await user.payin(second.id)), ['created', 'submitted'])
    await revert()
    t.equal(await mineElsewhere(txHash, [neighbour, user], named, at), 1, 'at another log index')
    // A look-up is reused for 2 s.
    clock.advance(2000)
    await confirm(user, second.id, txHash)
    t.same(causesOf(await user.payin(second.id)), ['created', 'submitted'], 'before a round of the watcher')
    await watch()
    await mine(url)
    await watch()
    t.match(await user.payin(named.id), { status: 'settled', txHash })
    t.same(causesOf(await user.payin(second.id)), ['created', 'submitted'])
  },
)

t.test('a payment made in time and lost after the deadline may be mined again within an hour', async t => {
  const user = await newUser()
  const payin = await ask(user, { amountCents: 34 })
  const deadline = Date.parse(payin.expiresAt)
  const revert = await snapshot(url)
  await pay(user.account, receiver, unitsOf(payin), undefined, deadline - 60_000)
  clock.set(deadline + 120_000)
  await watch()
  const later = await user.renewed()
  t.match(await later.payin(payin.id), { status: 'confirming' })
  await revert()
  await stampNextBlock(url, deadline + 120_000)
  await mine(url, 2)
  await watch()
  await watch()
  await expire()
  const lost = await later.payin(payin.id)
  t.same(causesOf(lost), ['created', 'seen', 'reorganised'])
  t.match(lost, { status: 'confirming' }, 'not closed yet')
  await pay(user.account, receiver, unitsOf(payin))
  await mine(url)
  await watch()
  t.match(await later.payin(payin.id), { status: 'settled' })
})

t.test('limits how many transactions a client may submit for a pay-in', async t => {
  const user = await newUser()
  const { id } = await ask(user, { amountCents: 35 })
  for (let n = 1; n < 30; n += 1) await confirm(user, id, `0x${n.toString(16).padStart(64, '0')}`)
  const response = await user.write('/subscriptions/payin/confirm', {
    payinId: id,
    txHash: `0x${'ff'.repeat(32)}`,
  })
  t.match(response, { status: 400, body: { field: 'payinId', message: /too many transactions/ } })
  t.equal((await user.payin(id)).history?.length, 30)
})
