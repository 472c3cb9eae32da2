// What a partner and a wallet user do from the first request to the last, over HTTP, with both settings of the onboarding requirements.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { bearer, type HttpResponse } from '../harness/host.ts'
import { kycBody } from './harness/kyc.ts'
import { newMoneyUser } from './harness/money.ts'
import { startOpenHost, type OpenHost } from './harness/open-host.ts'
import { manualClock } from '@gatewright/kernel/testing'
import { memberOf, withdrawalBody } from './harness/transfers.ts'

const GATES = ['on', 'partner'] as const

/** A host whose sums are looked at when the test is over, and a clock that the test moves. */
async function setUp(t: Test, requirements: (typeof GATES)[number]) {
  const clock = manualClock(Date.now())
  const open: OpenHost = await startOpenHost(clock, { ONBOARDING_GATES: requirements })
  t.teardown(() => open.close())
  const work = async (ms: number): Promise<void> => {
    clock.advance(ms)
    await open.host.chore('run jobs')
  }
  return { ...open, clock, work }
}

const closed = (rule: string): object => ({ status: 403, body: { error: 'policy_blocked', rule } })
const typesOf = ({ body }: HttpResponse): unknown =>
  (body.data['transactions'] as { type: string; status: string; amountCents: number }[])
    .map(({ type, status, amountCents }) => `${type} ${status} ${amountCents}`)
    .toSorted()

for (const requirements of GATES) {
  t.test(
    `a partner leads its user from resolve to a withdrawal, with onboarding requirements ${requirements}`,
    async t => {
      const { host, work, wrongSums } = await setUp(t, requirements)
      const { send } = host
      const partner = { 'x-partner-key': host.partnerKey }
      const userId = randomUUID()
      const resolved = await send('/partner/v1/users/resolve', { body: { userId }, headers: partner })
      t.equal(resolved.status, 200)
      const scopes = ['kyc.read', 'kyc.write', 'cards.read', 'cards.write', 'cards.secrets.read']
      const body = { userId, scopes: [...scopes, 'deposits.write', 'withdrawals.write', 'transactions.read'] }
      const session = await send('/partner/v1/sessions', { body, headers: partner })
      const token = session.body.data['sessionToken'] as string
      const call = (path: string, body?: object): Promise<HttpResponse> =>
        send(`/partner/v1${path}`, {
          headers: { ...bearer(token), ...(body ? { 'idempotency-key': randomUUID() } : {}) },
          ...(body ? { body } : {}),
        })

      const asset = { currency: 'usdc', network: 'base' }
      const early = { status: 409, body: { error: 'invalid_state', message: /^kyc required: / } }
      t.match(await call('/deposits', asset), early)
      t.match(await call('/agreements', { accepted: true }), early)
      t.match((await call('/kyc/applications', kycBody('Approved'))).body.data, { status: 'approved' })
      t.match((await call('/kyc/status')).body.data, { status: 'approved', isActive: true })
      const late = { status: 409, body: { message: /^agreements required: / } }
      t.match(await call('/cards', {}), late)
      t.match((await call('/agreements', { accepted: true })).body.data, { accepted: true })

      const card = await call('/cards', { limit: { amountCents: 5000 } })
      t.match(card, { status: 200, body: { data: { status: 'active', brand: 'visa' } } })
      const cardId = card.body.data['cardId'] as string
      const opened = memberOf(await call('/deposits', asset), 'deposit')
      t.match(opened, { status: 'awaitingDeposit', creditedCents: 0 })
      const paid = await call(`/sandbox/deposits/${opened.id}/pay`, { amount: '100' })
      t.match(memberOf(paid, 'deposit'), { status: 'completed', creditedCents: 10_000 })
      const payment = await call('/sandbox/authorizations', { cardId, amountCents: 1500 })
      const authorization = memberOf(payment, 'authorization')
      t.match(authorization, { status: 'authorized' })
      t.match(await call('/balances'), {
        body: { data: { balances: { spendingPower: 8500, pendingCharges: 1500, creditLimit: 10_000 } } },
      })
      const cleared = await call(`/sandbox/authorizations/${authorization.id}/clear`, { amountCents: 1400 })
      t.match(memberOf(cleared, 'authorization'), { status: 'cleared', clearedCents: 1400 })

      // The client polls by the same request with new keys until it reads `ready`.
      const polls: HttpResponse[] = []
      while (polls.length < 10 && polls.at(-1)?.body.data['status'] !== 'ready') {
        if (polls.length === 3) await work(0)
        polls.push(await call('/withdrawals', withdrawalBody(2000)))
      }
      t.equal(new Set(polls.map(({ body }) => body.data['id'])).size, 1, 'all polls return one withdrawal')
      t.same(
        polls.map(({ body }) => [body.data['status'], body.data['repeated']]),
        [
          ['pending', false],
          ['pending', true],
          ['pending', true],
          ['ready', true],
        ],
      )
      await work(6000)
      const spendingPower = 10_000 - 1400 - 2000
      t.match(await call('/balances'), { body: { data: { balances: { spendingPower, pendingCharges: 0 } } } })
      t.same(typesOf(await call('/transactions')), [
        'collateral completed 10000',
        'collateral completed 2000',
        'spend completed 1400',
      ])
      t.same(await wrongSums(), [])
      t.same(host.failures, [])
    },
  )

  t.test(
    `a wallet user goes from bootstrap to a withdrawal, with onboarding requirements ${requirements}`,
    async t => {
      const { host, clock, work, wrongSums } = await setUp(t, requirements)
      const user = await newMoneyUser(host.send, clock.now())
      const friend = await newMoneyUser(host.send, clock.now())
      const { write, read } = user
      const asset = { currency: 'usdc', network: 'base' }

      t.equal((await user.fund(20_000)).status, 200, 'play money has no requirements')
      if (requirements === 'on') {
        t.match(await write('/cards', {}), closed('kyc_required'))
        t.match(memberOf(await write('/kyc', kycBody('Approved')), 'application'), { status: 'approved' })
        t.match(await write('/cards', {}), closed('agreements_required'))
        t.match((await write('/agreements', { accepted: true })).body.data, { accepted: true })
      }
      const opened = memberOf(await write('/deposits', asset), 'deposit')
      const paid = await write(`/sandbox/deposits/${opened.id}/pay`, { amount: '50' })
      t.match(memberOf(paid, 'deposit'), { status: 'completed', creditedCents: 5000 })

      const card = memberOf(await write('/cards', {}), 'card')
      const pay = async (amountCents: number) =>
        memberOf(await write('/sandbox/authorizations', { cardId: card.id, amountCents }), 'authorization')
      const [bought, given] = [await pay(1000), await pay(700)]
      const ending = (id: string, verb: string, body: object = {}) =>
        write(`/sandbox/authorizations/${id}/${verb}`, body)
      t.match(memberOf(await ending(bought.id, 'clear'), 'authorization'), { status: 'cleared' })
      await ending(bought.id, 'refund', { amountCents: 300 })
      t.match(memberOf(await ending(given.id, 'reverse'), 'authorization'), { status: 'reversed' })

      const contract = memberOf(await write('/contracts', { label: 'Rent' }), 'contract')
      const aside = { amountCents: 4000, fromContractId: null, toContractId: contract.id }
      t.equal((await write('/deposits/transfer', aside)).status, 200)
      const payment = { to: { walletAddress: friend.address }, amountCents: 1200 }
      t.match(memberOf(await write('/payments', payment), 'payment'), { status: 'completed' })
      const note = { payee: 'City Power', amountCents: 900, dueAt: '2030-01-01' }
      const bill = memberOf(await write('/bills', note), 'bill')
      t.match(memberOf(await write(`/bills/${bill.id}/pay`, {}), 'bill'), { status: 'paid' })

      const asked = memberOf(await write('/withdrawals', withdrawalBody(2500)), 'withdrawal')
      t.match(asked, { status: 'pending', feeCents: 50 })
      await work(0)
      const state = async () => memberOf(await read(`/withdrawals/${asked.id}`), 'withdrawal')['status']
      t.equal(await state(), 'ready')
      await work(6000)
      t.equal(await state(), 'completed')

      const left = 20_000 + 5000 - (1000 - 300) - 4000 - 1200 - 900 - 2500
      const balance = { availableCents: left, pendingCents: 0, contractsCents: 4000 }
      t.match((await read('/balances')).body.data['balances'], [balance])
      t.equal(await friend.balance(), 1200)
      t.same(typesOf(await read('/transactions')), [
        'collateral completed 20000',
        'collateral completed 2500',
        'collateral completed 4000',
        'collateral completed 5000',
        'payment completed 1200',
        'payment completed 900',
        'spend completed 1000',
        'spend completed 300',
        'spend reversed 700',
      ])
      t.same(await wrongSums(), [])
      t.same(host.failures, [])
    },
  )
}
