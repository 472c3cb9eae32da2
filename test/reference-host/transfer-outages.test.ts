// Providers that are down, on hosts that were given their own.
import { Fault } from '@gatewright/kernel'
import { manualClock } from '@gatewright/kernel/testing'
import type { WithdrawalProvider } from '@gatewright/reference-host'
import type { DepositProvider } from '#packages/reference-host/dist/providers/deposits/port.js'
import t from 'tap'
import { openTestHost } from '../harness/host.ts'
import { fundedPartnerUser, fundedUser, memberOf, OUTSIDE, withdrawalBody } from './harness/transfers.ts'
import * as internals from '../harness/internals.ts'

const { PORTS } = internals

t.test(
  'responds with 503 and holds nothing while a provider is down, and the same key works afterwards',
  async t => {
    let isDown = false
    const calls: string[] = []
    const failing = <T extends object>(provider: T, port: string): T =>
      new Proxy(provider, {
        get: (target, name) => {
          const value = Reflect.get(target, name) as unknown
          if (typeof value !== 'function') return name === 'name' ? 'outer' : value
          return async (...given: unknown[]) => {
            calls.push(`${port} ${String(name)}`)
            if (isDown) throw new Fault('ERR_PROVIDER_UNAVAILABLE', 'is down')
            return Reflect.apply(value, target, given) as unknown
          }
        },
      })
    const clock = manualClock(Date.now())
    const memory = new Map<string, { at: number; what: string }>()
    // The built-in providers over rows in memory: only their three statements.
    const db = {
      query: async (text: string, values: readonly unknown[] = []) => {
        const [port, id, at, what] = values as [string, string, number, string]
        const key = `${port} ${id}`
        if (text.startsWith('insert')) {
          if (memory.has(key)) return { rows: [] }
          memory.set(key, { at, what })
          return { rows: [{ id }] }
        }
        const row = memory.get(key)
        return { rows: row ? [row] : [] }
      },
    } as never
    const deposits: DepositProvider = failing(PORTS.deposits.sandbox({ db, clock }), 'deposits')
    const withdrawals: WithdrawalProvider = failing(PORTS.withdrawals.sandbox({ db, clock }), 'withdrawals')
    const host = await openTestHost(t, { RATE_LIMITS: 'off' }, clock, { deposits, withdrawals })
    const user = await fundedUser(host, 10_000, { now: clock.now() })
    const partner = await fundedPartnerUser(host, 0)
    const asset = { currency: 'usdc', network: 'base' }
    const polled = await fundedPartnerUser(host, 5000)
    const first = await polled.write('/withdrawals', withdrawalBody(1000))

    isDown = true
    const body = withdrawalBody(1000)
    for (const response of [
      await user.write('/withdrawals', body, 'outage-0001'),
      await user.write('/deposits', asset, 'outage-0002'),
      await partner.read('/deposits/assets'),
      await partner.write('/deposits/range', asset),
      await partner.write('/withdrawals/estimate', { amountCents: 1000, destination: asset }),
    ])
      t.match(response, { status: 503, body: { error: 'service_unavailable' } })
    const before = calls.length
    t.match(await polled.write('/withdrawals', body), {
      status: 200,
      body: { data: { id: first.body.data['id'], repeated: true } },
    })
    t.equal(calls.length, before, 'a poll needs no provider')
    t.match((await user.read('/balances')).body.data, { balances: [{ availableCents: 10_000 }] })
    t.match((await user.read('/withdrawals')).body.data, { withdrawals: [] })
    await host.chore('run jobs')

    isDown = false
    const made = memberOf(await user.write('/withdrawals', body, 'outage-0001'), 'withdrawal')
    t.match(made, { status: 'pending', destination: { address: OUTSIDE } })
    t.match(await user.write('/deposits', asset, 'outage-0002'), { status: 200 })
    clock.advance(60_000)
    await host.chore('run jobs')
    t.match(memberOf(await user.read(`/withdrawals/${made.id}`), 'withdrawal'), { status: /ready|completed/ })
    for (const failure of host.failures.splice(0)) t.match(failure, { code: 'ERR_PROVIDER_UNAVAILABLE' })
    const metrics = await (await fetch(`${host.url}/metrics`)).text()
    t.match(metrics, /provider_calls_total\{port="withdrawals",outcome="unavailable"\} [1-9]/)
  },
)
