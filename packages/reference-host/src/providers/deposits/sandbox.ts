import { createHash } from 'node:crypto'
import { bech32 } from '@scure/base'
import { isRejection } from '../reply.ts'
import { SANDBOX_PROVIDER, sandboxCalls, type SandboxOptions } from '../sandbox.ts'
import { sandboxAssets, sandboxQuote } from '../sandbox-prices.ts'
import type { DepositProvider } from './port.ts'

/** Makes the built-in provider of deposits. It receives no payments: the operation `deposits.simulate` simulates them. */
export function sandboxDeposits({ db, clock }: Pick<SandboxOptions, 'db' | 'clock'>): DepositProvider {
  const calls = sandboxCalls(db, 'deposits')
  return {
    name: SANDBOX_PROVIDER,
    assets: async () => sandboxAssets,
    quote: async want => sandboxQuote(want, 'deposits'),
    async open(id, { currency, network }, signal) {
      signal.throwIfAborted()
      const quote = sandboxQuote({ currency, network }, 'deposits')
      if (isRejection(quote)) return quote
      await calls.addFirst(id, clock.now(), 'open')
      const { minAmount, maxAmount } = quote
      return { reference: `sandbox-${id}`, ...addressOf(id, currency, network), minAmount, maxAmount }
    },
    async find(id, signal) {
      signal.throwIfAborted()
      return (await calls.find(id)) && { status: 'awaitingDeposit', payments: [] }
    },
  }
}

/** The account of all deposits of XRP: a valid address whose key nobody has. */
const XRP_ACCOUNT = 'rGtDsf4c23by6wmJH1iSMwYqYufcFsSXr6'

/** Derives an address from the id, so that the same deposit always has the same address. */
function addressOf(id: string, currency: string, network: string) {
  const bytes = createHash('sha256').update(id).digest()
  const digest = bytes.toString('hex')
  const chainId = sandboxAssets
    .find(({ ticker }) => ticker === currency)
    ?.networks.find(each => each.id === network)?.chainId
  if (chainId) return { depositAddress: `0x${digest.slice(0, 40)}`, extraId: null, chainId }
  if (network === 'ripple') {
    // All deposits have the same address, as at exchanges; the tag distinguishes them.
    const extraId = String(Number.parseInt(digest.slice(0, 8), 16))
    return { depositAddress: XRP_ACCOUNT, extraId, chainId: null }
  }
  const depositAddress = bech32.encode('bc', [0, ...bech32.toWords(bytes.subarray(0, 20))])
  return { depositAddress, extraId: null, chainId: null }
}
