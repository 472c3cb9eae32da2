import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { mine, startEvm } from '../harness/chain/evm.ts'
import { keptHostStoresEnv } from '../harness/host-stores.ts'
import { openTestHost } from '../harness/host.ts'
import { ask, causesOf, chainUser, payinChain, unitsOf } from './harness/paid-host.ts'
import { rpcFront } from '../harness/chain/rpc-front.ts'

const chain = await startEvm()
t.teardown(() => chain.stop())
const clock = manualClock()
const { env, pay, receiver } = await payinChain(chain, clock)
const stores = await keptHostStoresEnv('postgres')
t.teardown(() => stores.drop())
const front = await rpcFront(chain.url)
t.teardown(() => front.close())
const one = await openTestHost(t, { ...stores.env, ...env, RPC_URLS: `${chain.chainId}=${front.url}` }, clock)
const two = await openTestHost(t, { ...stores.env, ...env }, clock)
const watch = `watch chain ${chain.chainId}`

t.test('a host whose node is down leaves its chain to another host at once', async t => {
  const user = await chainUser(one.send, 1, clock.now())
  const payin = await ask(user, { amountCents: 41 })
  await pay(1, receiver, unitsOf(payin))
  await mine(chain.url)
  front.raw = response => response.socket?.destroy()
  await t.rejects(one.chore(watch), { code: 'ERR_RPC_UNAVAILABLE' })
  await two.chore(watch)
  t.match(await user.payin(payin.id), { status: 'settled' })
  front.raw = undefined
})

t.test('two hosts that read simultaneously settle each payment once', async t => {
  const user = await chainUser(one.send, 2, clock.now())
  const payins = []
  for (let cents = 51; cents < 56; cents += 1) payins.push(await ask(user, { amountCents: cents }))
  for (const payin of payins) await pay(2, receiver, unitsOf(payin))
  await mine(chain.url)
  await Promise.all([one.chore(watch), two.chore(watch), one.chore(watch), two.chore(watch)])
  for (const { id } of payins) {
    const { status, ...payin } = await user.payin(id)
    t.equal(status, 'settled')
    t.equal(causesOf({ status, ...payin }).filter(cause => cause === 'paid_on_chain').length, 1)
  }
  t.equal(await user.balance(), 51 + 52 + 53 + 54 + 55)
})
