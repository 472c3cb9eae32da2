import { manualClock } from '@gatewright/kernel/testing'
import type { WithdrawalProvider, WithdrawalReport } from '@gatewright/reference-host'
import t from 'tap'
import { startTestHost, type HttpResponse } from '../../../harness/host.ts'
import { internals } from '../../../harness/internals.ts'
import { fundedPartnerUser, OUTSIDE, withdrawalBody, type TransferUser } from '../../harness/transfers.ts'

const clock = manualClock(Date.now())
/** What the provider says of every withdrawal from now on. The host's own rounds run meanwhile, and change nothing before. */
let says: WithdrawalReport['status'] = 'pending'
const report = async (): Promise<WithdrawalReport> => ({
  status: says,
  reason: says === 'failed' ? 'Refused.' : null,
  txHash: null,
  paidCents: null,
  relay: null,
})
const { assets, quote } = internals.PORTS.withdrawals.sandbox({ db: {} as never, clock })
const desk: WithdrawalProvider = { name: 'desk', assets, quote, find: report, send: report }
const host = await startTestHost({ RATE_LIMITS: 'off' }, clock, { withdrawals: desk })
t.teardown(() => host.close())
const MINUTE_MS = 60_000

/** Lets the provider say something of every withdrawal that is under way. */
async function decide(status: WithdrawalReport['status']): Promise<void> {
  says = status
  // Longer than the first pause of a job.
  clock.advance(5000)
  await host.chore('run jobs')
  says = 'pending'
}
async function spendable(user: TransferUser): Promise<unknown> {
  const { body } = await user.read('/deposits?scope=all')
  return body.data['deposits'] && (await insufficient(user))
}
/** What the balance holds: the response to a withdrawal that is too large for it. */
async function insufficient(user: TransferUser): Promise<unknown> {
  return (await user.write('/withdrawals', withdrawalBody(4_999_999))).body['availableCents']
}
const data = ({ body }: HttpResponse): Record<string, unknown> => body.data

t.test('a repeated POST with new keys polls one withdrawal until it is handed over', async t => {
  const ann = await fundedPartnerUser(host, 10_000)
  const post = (cents = 1000, extra: object = {}): Promise<HttpResponse> =>
    ann.write('/withdrawals', withdrawalBody(cents, extra))
  const first = await post()
  const { id } = data(first)
  t.match(data(first), { status: 'pending', state: 'pending', repeated: false, retryAfterSeconds: 1 })
  t.match(data(await post()), { id, status: 'pending', repeated: true })
  t.match(data(await post(1000, { currency: 'USDC', address: OUTSIDE.toUpperCase().replace('0X', '0x') })), {
    id,
  })
  t.not(data(await post(1001))['id'], id, 'another amount')
  t.not(data(await post(1000, { network: 'ethereum' }))['id'], id, 'another destination')
  t.equal(await spendable(ann), 10_000 - 3001)
  await decide('completed')
  t.match(data(await post()), { id, status: 'ready', state: 'completed', repeated: true })
  const next = await post()
  t.match(data(next), { status: 'pending', repeated: false })
  t.not(data(next)['id'], id, 'once it was not pending, an equal request is a new withdrawal')
})

t.test('the old form of the body is the same withdrawal', async t => {
  const ann = await fundedPartnerUser(host, 10_000)
  const old = {
    amountCents: 1000,
    recipientAddress: OUTSIDE,
    chainId: '8453',
    tokenAddress: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  }
  const first = data(await ann.write('/withdrawals', old))
  t.match(first, { status: 'pending', destination: { currency: 'usdc', network: 'base', address: OUTSIDE } })
  t.match(data(await ann.write('/withdrawals', { ...old, chainId: 8453 })), {
    id: first['id'],
    repeated: true,
  })
  t.match(data(await ann.write('/withdrawals', withdrawalBody(1000))), { id: first['id'], repeated: true })
  for (const [body, field] of [
    [{ ...old, chainId: 1 }, 'tokenAddress'],
    [{ ...old, chainId: undefined }, 'chainId'],
    [{ ...old, recipientAddress: undefined }, 'recipientAddress'],
    [{ amountCents: 1000 }, 'destination'],
    [{ ...old, recipientAddress: 'nobody' }, 'destination.address'],
  ] as const)
    t.match(await ann.write('/withdrawals', body), { status: 400, body: { field } }, field)
})

t.test('a failed withdrawal is returned once to the poll, as 409, and then a new one is made', async t => {
  const ann = await fundedPartnerUser(host, 10_000)
  const body = withdrawalBody(1000)
  const { id } = data(await ann.write('/withdrawals', body))
  await decide('failed')
  const failed = await ann.write('/withdrawals', body, 'poll-of-failed')
  t.match(failed, { status: 409, body: { error: 'invalid_state' } })
  t.same((await ann.write('/withdrawals', body, 'poll-of-failed')).status, 409, 'stored')
  t.not(data(await ann.write('/withdrawals', body))['id'], id)
})

t.test('a withdrawal stays open to polling for 10 minutes after its last pending response', async t => {
  const ann = await fundedPartnerUser(host, 10_000)
  const body = withdrawalBody(1000)
  const { id } = data(await ann.write('/withdrawals', body))
  clock.advance(9 * MINUTE_MS)
  t.match(data(await ann.write('/withdrawals', body)), { id, repeated: true })
  clock.advance(9 * MINUTE_MS)
  t.match(data(await ann.write('/withdrawals', body)), { id, repeated: true })
  clock.advance(10 * MINUTE_MS)
  t.not(data(await ann.write('/withdrawals', body))['id'], id)
})

t.test('equal requests at once are one withdrawal, and polls at once close it together', async t => {
  for (let round = 0; round < 3; round += 1) {
    const ann = await fundedPartnerUser(host, 10_000)
    const at = (count: number): Promise<HttpResponse[]> =>
      Promise.all(Array.from({ length: count }, () => ann.write('/withdrawals', withdrawalBody(1000))))
    const made = await at(8)
    t.equal(new Set(made.map(each => data(each)['id'])).size, 1)
    t.equal(made.filter(each => data(each)['repeated'] === false).length, 1)
    t.equal(await insufficient(ann), 9000, 'the money is held once')
    await decide('ready')
    const polls = await at(2)
    t.ok(polls.some(each => data(each)['id'] === data(made[0] as HttpResponse)['id']))
    for (const each of polls) t.match(each, { status: 200 })
    t.ok(Number(await insufficient(ann)) >= 8000)
  }
})
