import { manualClock } from '@gatewright/kernel/testing'
import { branchOfXpub } from '#packages/reference-host/dist/chain/xpub.js'
import t from 'tap'
import { HDKey } from 'viem/accounts'
import { startEvm } from '../harness/chain/evm.ts'
import { hostStoresEnv } from '../harness/host-stores.ts'
import { openTestHost, sessionOf, type HttpResponse } from '../harness/host.ts'
import { responded } from './harness/repeats.ts'
import { moneyUser, type MoneyUser } from './harness/money.ts'
import { chainUser, payinChain } from './harness/paid-host.ts'

const key = HDKey.fromMasterSeed(new Uint8Array(32).fill(5)).derive("m/44'/60'/0'")
const { addressAt } = branchOfXpub(key.publicExtendedKey)

/** Writes, and repeats the write under its key as long as a busy machine is too slow for the host's time limits. */
function patiently(user: Pick<MoneyUser, 'write'>, path: string, body: object): Promise<HttpResponse> {
  const key = crypto.randomUUID()
  return responded(() => user.write(path, body, key))
}

t.test('two hosts of one Postgres never share an index, and budgets hold over both', async t => {
  const chain = await startEvm()
  t.teardown(() => chain.stop())
  const clock = manualClock()
  const { env } = await payinChain(chain, clock, { depositAddresses: [], xpub: key.publicExtendedKey })
  const stores = await hostStoresEnv('postgres')
  t.teardown(() => stores.drop())
  const one = await openTestHost(t, { ...stores.env, ...env }, clock)
  const two = await openTestHost(t, { ...stores.env, ...env }, clock)
  const body = { amountCents: 10, asset: 'EURC', payFrom: 'anywhere' }
  const users = []
  for (const account of [1, 2, 3, 4]) {
    const user = await chainUser(one.send, account, clock.now())
    // The same key opens a session on the other host, so both hosts allocate for one account at once.
    const other = moneyUser(two.send, { token: await sessionOf(two.send, user.key) })
    users.push(user, other)
  }
  const responses = await Promise.all(
    users.flatMap(user => Array.from({ length: 8 }, () => patiently(user, '/subscriptions/payin', body))),
  )
  const made = responses.filter(({ status }) => status === 200)
  const denied = responses.filter(({ status }) => status !== 200).map(({ body: { error } }) => error)
  t.same(
    denied,
    Array.from({ length: 24 }, () => 'policy_blocked'),
    'ten of each account pass, of 16 that were asked for at once',
  )
  const addresses = made.map(
    ({ body: { data } }) => (data['payin'] as { payTo: { address: string } }).payTo.address,
  )
  const expected = Array.from({ length: 40 }, (_, n) => addressAt(n))
  t.same(addresses.toSorted(), expected.toSorted(), 'the first 40, each once: what is denied takes none')
})
