// Providers of deposits and withdrawals that keep a journal in a file, so that it outlives the process. They take every call: an id that
// is sent twice takes effect twice. So the host alone must prevent that.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { Fault } from '@gatewright/kernel'
import type { Providers, WithdrawalProvider } from '@gatewright/reference-host'
import type { Asset } from '#packages/reference-host/dist/providers/catalogue.js'
import type { DepositProvider } from '#packages/reference-host/dist/providers/deposits/port.js'

/** An amount whose response is lost. */
const LOST = 777
const path = process.env['JOURNAL'] as string

const entries = (): string[] => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [])
const asset: Asset = {
  ticker: 'usdc',
  name: 'USD Coin',
  icon: null,
  networks: [
    {
      id: 'base',
      label: 'Base',
      chainId: 8453,
      tokenContract: null,
      decimals: 6,
      supportsExtraId: false,
    },
  ],
}
const catalogue = {
  assets: async () => [asset],
  quote: async () => ({
    minAmount: '1',
    maxAmount: null,
    minAmountCents: 1,
    maxAmountCents: null,
    toAmount: '1',
    feeCents: 50,
    rateId: null,
    validUntil: null,
  }),
}
const none = { reason: null, txHash: null, paidCents: null, relay: null }

/** Makes the providers. `at` is called before and after each effect, where the process may be killed. */
export function providersOf(at: (moment: 'before' | 'after', text: string) => void): Providers {
  const effect = (what: string, id: string): void => {
    at('before', `provider: ${what}`)
    appendFileSync(path, `${what} ${id}\n`)
    at('after', `provider: ${what}`)
  }
  const withdrawals: WithdrawalProvider = {
    ...catalogue,
    name: 'journal',
    async send(id, { amountCents }) {
      effect('send', id)
      if (amountCents === LOST) throw new Fault('ERR_PROVIDER_UNAVAILABLE', 'the response is lost')
      return { ...none, status: 'ready' }
    },
    async find(id) {
      at('before', 'provider: find')
      const all = entries()
      if (!all.includes(`send ${id}`)) return undefined
      // Known as ready once, then completed.
      const asked = all.includes(`asked ${id}`)
      if (!asked) appendFileSync(path, `asked ${id}\n`)
      return { ...none, status: asked ? 'completed' : 'ready' }
    },
  }
  const deposits: DepositProvider = {
    ...catalogue,
    name: 'journal',
    async open(id) {
      effect('open', id)
      return {
        reference: id,
        depositAddress: `address-of-${id}`,
        extraId: null,
        chainId: null,
        minAmount: '1',
        maxAmount: null,
      }
    },
    find: async id =>
      entries().includes(`open ${id}`) ? { status: 'awaitingDeposit', payments: [] } : undefined,
  }
  return { deposits, withdrawals }
}
