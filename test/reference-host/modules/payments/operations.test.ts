// The operations of payments, called without a host around them.
import { rows } from '@gatewright/kernel/sql'
import { ledgerAccounts } from '@gatewright/host/internal'
import t from 'tap'
import * as internals from '../../../harness/internals.ts'
import { openMoney, withoutVarying, type OperationResult } from '../../harness/money-operations.ts'
import { uniqueName } from '../../../harness/stores.ts'

const { db, clock, services, addAccount, balance, history, run } = await openMoney(t)
const all = internals.paymentOperations(services)
const [list, create] = ['payments.list', 'payments.create'].map(id => all.find(each => each.id === id)!) as [
  (typeof all)[0],
  (typeof all)[0],
]
const MIXED = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'
const [ANN, BOB] = [`0x${'a1'.repeat(20)}`, MIXED.toLowerCase()]
const ann = await addAccount(10_000, ANN)
const bob = await addAccount(1, BOB)
const pay = (walletAddress: string, amountCents = 1, more: object = {}, accountId = ann) => {
  const body = { to: { walletAddress }, amountCents }
  return run(create, accountId, { body, ...more })
}
const listed = async (accountId: string, query = '') => (await run(list, accountId, { query })).data!
const paymentOf = ({ data }: OperationResult) => data!['payment'] as Record<string, unknown> & { id: string }
const user = (accountId: string): Promise<number> => balance(ledgerAccounts.user(accountId))

/** Stores a user whose wallet is a contract on a chain. */
async function addContractUser(chainId: number, walletAddress: string): Promise<void> {
  const wallet = { wallet: `eip155:${chainId}:${walletAddress}`, walletAddress } as never
  await services.users.findOrCreateByWallet(wallet, clock.now())
}

t.test('responds as its examples say', async t => {
  const { to, amountCents } = create.example.body as { to: { walletAddress: string }; amountCents: number }
  await addAccount(0, to.walletAddress)
  const payer = await addAccount(amountCents)
  const made = await run(create, payer, { body: create.example.body })
  t.same(withoutVarying(made.data), withoutVarying(create.example.response))
  t.same(withoutVarying(await listed(payer)), withoutVarying(list.example.response))
})

t.test('moves money to another wallet user at once, and both sides see it', async t => {
  const before = [await user(ann), await user(bob)] as const
  const made = paymentOf(await pay(MIXED, 400))
  t.match(made, { direction: 'debit', counterparty: { walletAddress: BOB }, amountCents: 400, memo: null })
  t.same([(await user(ann)) - before[0], (await user(bob)) - before[1]], [-400, 400])
  t.same((await listed(ann, 'limit=1'))['payments'], [made])
  const received = { ...made, direction: 'credit', counterparty: { walletAddress: ANN } }
  t.same((await listed(bob, 'limit=1'))['payments'], [received])
  const at = (ms: number): string => encodeURIComponent(new Date(ms).toISOString())
  t.same((await listed(ann, `limit=1&from=${at(clock.now())}`))['payments'], [made])
  t.same((await listed(ann, `limit=1&from=${at(clock.now() + 1)}`))['payments'], [])
  t.same(await history(bob, 'payment', made.id), [[null, 'completed', 'received', 400, null]])
})

t.test('a repeated request pays once, within the limit on one operation', async t => {
  const effectId = uniqueName()
  const before = await user(ann)
  const made = await pay(BOB, 300, { effectId })
  clock.advance(1)
  t.same(await pay(BOB, 300, { effectId }), made)
  t.match(await pay(BOB, 300, { effectId, policy: { maxAuthAmountCents: 299 } }), { code: 'policy_blocked' })
  t.equal(await user(ann), before - 300)
})

t.test('denies what caps or the balance do not allow, and changes nothing', async t => {
  const before = await user(ann)
  t.match(await pay(BOB, 300, { policy: { dailySpendCapCents: 299 } }), { code: 'policy_blocked' })
  t.match(await pay(BOB, before + 1), { field: 'amountCents', details: { availableCents: before } })
  t.equal(await user(ann), before)
})

t.test('finds only the one wallet user who signs with a key of the address', async t => {
  const wrong = { code: 'invalid_request', field: 'to' }
  const address = (digits: string): string => `0x${digits.repeat(20)}`
  t.match(await pay(ANN), { ...wrong, message: /your own/ })
  t.match(await pay(MIXED.replace('fB', 'Fb')), { ...wrong, message: /checksum/ })
  t.match(await pay(BOB.toUpperCase().replace('0X', '0x')), { data: {} }, 'in one case')
  const nobody = await pay(address('12'))
  t.match(nobody, { code: 'not_found', field: 'to', message: /contract wallet/ })
  await rows(db, "insert into gw_partners (id, name, created_at) values ('p', 'P', 0)")
  const ofPartner = { partnerId: 'p', externalId: 'one', walletAddress: address('13') } as never
  await services.users.resolve(ofPartner, clock.now(), async () => {})
  await addContractUser(1, address('14'))
  await addContractUser(1, address('15'))
  await addContractUser(10, address('15'))
  for (const digits of ['13', '14', '15']) t.same(await pay(address(digits)), nobody, digits)
  await addContractUser(1, BOB)
  t.match(await pay(BOB), { ...wrong, message: /two accounts/ })
  t.match(await pay(BOB, 1, {}, bob), { ...wrong, message: /your own/ }, 'also with a contract wallet')
})

t.test('takes memos of 1 to 140 characters and amounts of 1 to 100,000,000 cents', async t => {
  const problem = internals.compileSchema(create.body!)
  const body = { to: { walletAddress: BOB }, amountCents: 1 }
  for (const [name, values] of [
    ['amountCents', [0, 1, 100_000_000, 100_000_001]],
    ['memo', ['', 'x', 'x'.repeat(140), 'x'.repeat(141)]],
  ] as const)
    t.same(
      values.map(value => problem({ ...body, [name]: value }) === undefined),
      [false, true, true, false],
      name,
    )
})

t.test('lists payments only, sent and received, newest first', async t => {
  const [from, to] = [`0x${'21'.repeat(20)}`, `0x${'22'.repeat(20)}`]
  const payer = await addAccount(1000, from)
  const other = await addAccount(1000, to)
  const ids: string[] = []
  ids.unshift(paymentOf(await pay(to, 1, {}, payer)).id)
  ids.unshift(paymentOf(await pay(from, 2, {}, other)).id)
  ids.unshift(paymentOf(await pay(to, 3, {}, payer)).id)
  const page = async (query: string): Promise<readonly [string[], string | null]> => {
    const { payments, nextCursor } = await listed(payer, query)
    return [payments.map(({ id }: { id: string }) => id), nextCursor]
  }
  const [first, cursor] = await page('limit=2')
  t.same(first, ids.slice(0, 2))
  t.same(await page(`limit=2&cursor=${cursor}`), [ids.slice(2), null])
})
