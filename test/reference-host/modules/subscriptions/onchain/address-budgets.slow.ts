import t from 'tap'
import type { TestHost } from '../../../../harness/host.ts'
import { chainUser, startPaidHost, type ChainUser } from '../../../harness/paid-host.ts'

const list = Array.from({ length: 40 }, (_, n) => `0x${(0xd00000 + n).toString(16).padStart(40, '0')}`)
const paid = await startPaidHost({ depositAddresses: list })
t.teardown(() => paid.close())
const { clock, host } = paid

/** Sends as a client with another address. */
const from =
  (address: string): TestHost['send'] =>
  (path, options = {}) =>
    host.send(path, { ...options, headers: { ...options.headers, 'x-forwarded-for': address } })
const userAt = (address: string, account: number): Promise<ChainUser> =>
  chainUser(from(address), account, clock.now())
const body = { amountCents: 10, asset: 'EURC', payFrom: 'anywhere' }

t.test('leaves deposit addresses of a list to other clients when one client uses four wallets', async t => {
  const wallets = await Promise.all([1, 2, 3, 4].map(account => userAt('203.0.113.9', account)))
  const asked = wallets.flatMap(wallet =>
    Array.from({ length: 12 }, () => wallet.write('/subscriptions/payin', body)),
  )
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  t.equal(
    statuses.filter(status => status === 200).length,
    10,
    'a quarter of the list, also for simultaneous requests',
  )
  const fifth = await userAt('203.0.113.9', 8)
  t.match(await fifth.write('/subscriptions/payin', body), {
    status: 403,
    body: { error: 'policy_blocked', rule: 'max_unpaid_addresses_of_client' },
  })
  const neighbour = await userAt('203.0.113.10', 5)
  t.match(await neighbour.write('/subscriptions/payin', body), { status: 200 })
})

t.test('counts IPv6 clients by their /64', async t => {
  const users = await Promise.all([6, 7].map(n => userAt(`2001:db8::${n}`, n)))
  const asked = users.flatMap(user =>
    Array.from({ length: 10 }, () => user.write('/subscriptions/payin', body)),
  )
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  t.equal(statuses.filter(status => status === 200).length, 10)
})
