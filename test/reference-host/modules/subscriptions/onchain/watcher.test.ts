import { randomUUID } from 'node:crypto'
import t from 'tap'
import { mine, snapshot, stampNextBlock } from '../../../../harness/chain/evm.ts'
import type { HttpResponse } from '../../../../harness/host.ts'
import { payinOf } from '../../../harness/money.ts'
import {
  ask,
  causesOf as causes,
  confirm,
  startPaidHost,
  unitsOf as units,
} from '../../../harness/paid-host.ts'

const DAY_MS = 86_400_000
const paid = await startPaidHost()
t.teardown(() => paid.close())
const { chain, clock, front, usdc, eurc, receiver, depositAddresses, pay, watch, expire, newUser } = paid
const { url, chainId } = chain

t.test('settles a pay-in without a client’s call once its transfer has its confirmations', async t => {
  const user = await newUser()
  const payin = await ask(user, { amountCents: 1234 })
  t.match(payin.payTo, {
    address: receiver,
    chainId,
    token: usdc.address,
    asset: 'USDC',
    units: '12340000',
    from: user.address,
  })
  const txHash = await pay(user.account, receiver, units(payin))
  await watch()
  t.match(await user.payin(payin.id), { status: 'confirming', txHash })
  t.equal(await user.balance(), 0)
  await mine(url)
  await watch()
  await watch()
  const settled = await user.payin(payin.id)
  t.match(settled, { status: 'settled', txHash, method: 'onchain' })
  t.same(causes(settled), ['created', 'seen', 'paid_on_chain'])
  t.equal(await user.balance(), 1234, 'an open pay-in fills the balance')
})

t.test(
  'submitting a transaction with enough confirmations settles at once and starts the subscription',
  async t => {
    const user = await newUser()
    const made = await user.write('/subscriptions/checkout', {
      plan: 'pro',
      chainId: String(chainId),
      asset: 'USDC',
    })
    const payin = payinOf(made)
    const txHash = await pay(user.account, receiver, units(payin))
    await mine(url)
    t.match(await confirm(user, payin.id, txHash.toUpperCase().replace('0X', '0x')), {
      status: 'settled',
      txHash,
    })
    t.match((await user.read('/subscriptions')).body.data['subscriptions'], [{ status: 'active' }])
    t.equal(await user.balance(), 0, 'the price of a plan is not credited')
    await watch()
    t.same(causes(await user.payin(payin.id)), ['created', 'submitted', 'paid_on_chain'])
  },
)

t.test(
  'a transaction that is not mined yet keeps its pay-in confirming and bars payment from the balance',
  async t => {
    const user = await newUser()
    await user.fund(5000)
    const payin = payinOf(await user.write('/subscriptions/checkout', { plan: 'basic' }))
    t.match(await confirm(user, payin.id, `0x${'ab'.repeat(32)}`), { status: 'confirming' })
    const fromBalance = await user.write('/subscriptions/payin/confirm-balance', { payinId: payin.id })
    t.match(fromBalance, { status: 400, body: { message: /under way/ } })
    const txHash = await pay(user.account, receiver, units(payin))
    await mine(url)
    await watch()
    t.match(await user.payin(payin.id), { status: 'settled', txHash }, 'the watcher finds the real payment')
    t.equal(await user.balance(), 5000)
  },
)

t.test('nothing but the exact transfer settles a pay-in', async t => {
  const [user, stranger] = [await newUser(), await newUser()]
  const early = await pay(user.account, receiver, 770_000n)
  clock.advance(60_000)
  const payin = await ask(user, { amountCents: 77 })
  t.equal(units(payin), 770_000n)
  const wrong = {
    'mined before it was asked for': early,
    'stamped a second before it was asked for': await pay(
      ...([user.account, receiver, 770_000n, usdc, Date.parse(payin.createdAt) - 1] as const),
    ),
    'from somebody else': await pay(stranger.account, receiver, 770_000n),
    'of another token': await pay(user.account, receiver, 770_000n, eurc),
    'of one unit less': await pay(user.account, receiver, 769_999n),
    'of one unit more': await pay(user.account, receiver, 770_001n),
    'to another address': await pay(user.account, stranger.address, 770_000n),
  }
  await mine(url, 3)
  await watch()
  t.match(await user.payin(payin.id), { status: 'awaiting_payment', txHash: null })
  for (const [what, txHash] of Object.entries(wrong)) {
    t.match(await confirm(user, payin.id, txHash), { status: 'confirming' }, `a transfer ${what}`)
    await watch()
    t.match(await user.payin(payin.id), { status: 'confirming' }, `a transfer ${what}`)
  }
  t.equal(await user.balance(), 0)
})

t.test('one transfer settles only one of two matching pay-ins', async t => {
  const user = await newUser()
  const [first, second] = [await ask(user, { amountCents: 88 }), await ask(user, { amountCents: 88 })]
  const txHash = await pay(user.account, receiver, units(first))
  await mine(url)
  const responses = await Promise.all([
    confirm(user, first.id, txHash).catch(() => undefined),
    confirm(user, second.id, txHash).catch(() => undefined),
    watch().catch(() => undefined),
  ])
  t.equal(responses.length, 3)
  await confirm(user, second.id, txHash)
  await watch()
  const statuses = [(await user.payin(first.id)).status, (await user.payin(second.id)).status].toSorted()
  t.equal(statuses.filter(status => status === 'settled').length, 1, statuses.join())
  t.equal(await user.balance(), 88)
  await pay(user.account, receiver, units(first))
  await mine(url)
  await watch()
  t.same([(await user.payin(first.id)).status, (await user.payin(second.id)).status], ['settled', 'settled'])
  t.equal(await user.balance(), 176)
})

t.test(
  'a reorganised transfer returns to confirming, and counts from the block that mines it again',
  async t => {
    const user = await newUser()
    const payin = await ask(user, { amountCents: 99 })
    const revert = await snapshot(url)
    const lost = await pay(user.account, receiver, units(payin))
    await watch()
    t.match(await user.payin(payin.id), { status: 'confirming', txHash: lost })
    await revert()
    await mine(url, 3)
    await watch()
    t.match(
      await user.payin(payin.id),
      { status: 'confirming', txHash: lost },
      'one reply of the node changes nothing',
    )
    await watch()
    const gone = await user.payin(payin.id)
    t.match(gone, { status: 'confirming', txHash: null })
    t.same(causes(gone), ['created', 'seen', 'reorganised'])
    t.equal(await user.balance(), 0)
    const again = await pay(user.account, receiver, units(payin))
    await watch()
    t.match(await user.payin(payin.id), { status: 'confirming', txHash: again })
    await mine(url)
    await watch()
    t.match(await user.payin(payin.id), { status: 'settled', txHash: again })
    t.equal(await user.balance(), 99)
  },
)

t.test('follows a transfer that moves to another block', async t => {
  const user = await newUser()
  const payin = await ask(user, { amountCents: 55 })
  const revert = await snapshot(url)
  const txHash = await pay(user.account, receiver, units(payin))
  await watch()
  await revert()
  await mine(url, 1)
  t.equal(await pay(user.account, receiver, units(payin)), txHash, 'the very same transaction')
  await watch()
  t.match(await user.payin(payin.id), { status: 'confirming', txHash })
  t.equal(await user.balance(), 0, 'one confirmation again')
  await mine(url)
  await watch()
  t.match(await user.payin(payin.id), { status: 'settled', txHash })
  t.equal(await user.balance(), 55)
})

t.test('a deposit address may be paid by anybody and serves one pay-in only', async t => {
  const [user, stranger] = [await newUser(), await newUser()]
  const anywhere = { amountCents: 10, asset: 'EURC', payFrom: 'anywhere' }
  const [one, two] = await Promise.all([ask(user, anywhere), ask(user, anywhere)])
  const given = [one, two].map(({ payTo }) => payTo?.address as string)
  t.same(given.toSorted(), depositAddresses.toSorted())
  t.match(one.payTo, { from: null, units: '100000000000000000' })
  const none = { status: 400, body: { field: 'payFrom', message: /no deposit address is free/i } }
  t.match(await user.write('/subscriptions/payin', anywhere), none)
  t.match(await user.write('/subscriptions/payin', { ...anywhere, asset: 'USDC' }), none, 'they are for EURC')
  await pay(stranger.account, given[0] as string, units(one), eurc)
  await mine(url)
  await watch()
  t.match(await user.payin(one.id), { status: 'settled' })
  t.match(await user.payin(two.id), { status: 'awaiting_payment' })
  t.match(await user.write('/subscriptions/payin', anywhere), none)
})

t.test('an unreachable chain denies no request, closes no pay-in and loses no payment', async t => {
  const user = await newUser()
  const payin = await ask(user, { amountCents: 66 })
  front.raw = response => response.socket?.destroy()
  const txHash = await pay(user.account, receiver, units(payin))
  await mine(url)
  t.match(await confirm(user, payin.id, txHash), { status: 'confirming' })
  await t.rejects(watch(), { code: 'ERR_RPC_UNAVAILABLE' })
  clock.set(Date.parse(payin.expiresAt) + DAY_MS)
  await expire()
  const later = await user.renewed()
  t.match(await later.payin(payin.id), { status: 'confirming' }, 'not expired before the chain was read')
  front.raw = undefined
  await watch()
  await expire()
  t.match(await later.payin(payin.id), { status: 'settled', txHash })
  t.equal(await later.balance(), 66)
})

t.test('reads the chain once per idempotency key and not for replays', async t => {
  const user = await newUser()
  const { id } = await ask(user, { amountCents: 44 })
  const key = randomUUID()
  const named = (): Promise<HttpResponse> =>
    user.write('/subscriptions/payin/confirm', { payinId: id, txHash: `0x${'cd'.repeat(32)}` }, key)
  await named()
  const asked = front.requests.length
  const responses: HttpResponse[] = []
  for (let n = 0; n < 20; n += 1) {
    // So that no earlier look-up is reused.
    clock.advance(3000)
    responses.push(await named())
  }
  t.same(
    responses.map(({ status, headers }) => [status, headers.get('idempotency-replayed')]),
    Array.from({ length: 20 }, () => [200, 'true']),
  )
  // The host's own watcher runs meanwhile, in real time.
  t.ok(front.requests.length - asked < 20, 'fewer requests than replays')
})

t.test(
  'closes at its deadline once the chain was read past it, as failed when a transaction was submitted',
  async t => {
    const user = await newUser({
      policy: { limits: [{ operations: ['subscriptions.*'], maxCents: 30, window: 'total' }] },
    })
    const [silent, named, late] = [
      await ask(user, { amountCents: 10 }),
      await ask(user, { amountCents: 10 }),
      await ask(user, { amountCents: 10 }),
    ]
    await confirm(user, named.id, `0x${'cd'.repeat(32)}`)
    const deadline = Date.parse(late.expiresAt)
    clock.set(deadline - 2000)
    await watch()
    const { status } = await user.write('/subscriptions/payin', { amountCents: 1 })
    t.not(status, 200, 'the cap is held')
    const txHash = await pay(user.account, receiver, units(late), usdc, deadline - 1000)
    clock.set(deadline + DAY_MS)
    const later = await user.renewed()
    const statuses = async (): Promise<string[]> =>
      Promise.all([silent, named, late].map(async ({ id }) => (await later.payin(id)).status))
    await watch()
    await expire()
    // The transfer matches all three: it pays the oldest that submitted no other transaction.
    t.same(
      await statuses(),
      ['confirming', 'confirming', 'awaiting_payment'],
      'no block is past the deadline yet',
    )
    await stampNextBlock(url, deadline + 60_000)
    await mine(url)
    front.response = async (call, real) =>
      call.method === 'eth_getLogs' ? { error: { code: -32005 } } : real()
    await t.rejects(watch(), { code: 'ERR_RPC_UNAVAILABLE' })
    await expire()
    t.same(await statuses(), ['confirming', 'confirming', 'awaiting_payment'], 'its events were not read')
    front.response = (_, real) => real()
    await watch()
    await expire()
    t.same(await statuses(), ['settled', 'failed', 'expired'])
    t.match(
      await later.payin(silent.id),
      { status: 'settled', txHash },
      'a transfer mined in time still settles',
    )
    t.equal(await later.balance(), 10)
    t.ok(await ask(later, { amountCents: 20 }), 'the holds of the two closed pay-ins are released')
    t.equal(
      (await later.write('/subscriptions/payin', { amountCents: 1 })).status,
      403,
      'the paid one counts',
    )
  },
)

t.test('names the configured chains and assets in denials', async t => {
  const user = await newUser()
  t.match(await user.write('/subscriptions/payin', { amountCents: 5, chainId: 5 }), {
    status: 400,
    body: { field: 'chainId', message: new RegExp(`${chainId}`) },
  })
  t.match(await user.write('/subscriptions/payin', { amountCents: 5, asset: 'DAI' }), {
    status: 400,
    body: { field: 'asset', message: /USDC, EURC/ },
  })
  const { id } = await ask(user, { amountCents: 5 })
  for (const txHash of ['0x12', 'ab'.repeat(32), `0x${'g'.repeat(64)}`]) {
    t.match(await user.write('/subscriptions/payin/confirm', { payinId: id, txHash }), {
      status: 400,
      body: { field: 'txHash' },
    })
  }
})
