import { createHash } from 'node:crypto'
import { Fault, type Clock, type EpochMs } from '@gatewright/kernel'
import { rows, toInteger, toText, type SqlClient } from '@gatewright/kernel/sql'
import { isRejection } from './rejection.ts'
import type { DepositProvider } from './deposits.ts'
import { SANDBOX_PROVIDER } from './sandbox-kyc.ts'
import { sandboxAssets, sandboxQuote } from './sandbox-prices.ts'
import type { WithdrawalProvider, WithdrawalReport } from './withdrawals.ts'

/** What the built-in providers need. */
interface SandboxOptions {
  readonly db: SqlClient
  readonly clock: Clock
}

// One row per id and port: what the first call of an id did.
const FIRST = `insert into gw_sandbox_provider_calls (port, id, at, what) values ($1, $2, $3, $4)
  on conflict (port, id) do nothing returning id`
const READ = 'select at, what from gw_sandbox_provider_calls where port = $1 and id = $2'

/** Makes the built-in provider of deposits. Nobody pays it: `deposits.simulate` takes the place of a payment. */
export function sandboxDeposits({ db, clock }: SandboxOptions): DepositProvider {
  return {
    name: SANDBOX_PROVIDER,
    assets: async () => sandboxAssets,
    quote: async want => sandboxQuote(want, 'deposits'),
    async open(id, { currency, network }, signal) {
      signal.throwIfAborted()
      const quote = sandboxQuote({ currency, network }, 'deposits')
      if (isRejection(quote)) return quote
      await rows(db, FIRST, ['deposits', id, clock.now(), 'open'])
      const { minAmount, maxAmount } = quote
      return { reference: `sandbox-${id}`, ...addressOf(id, currency, network), minAmount, maxAmount }
    },
    async find(id, signal) {
      signal.throwIfAborted()
      const [row] = await rows(db, READ, ['deposits', id])
      return row && { status: 'awaitingDeposit', payments: [] }
    },
  }
}

/** An address that follows from the id, so that the same deposit always has the same one. */
function addressOf(id: string, currency: string, network: string) {
  const digest = createHash('sha256').update(id).digest('hex')
  const chainId = sandboxAssets
    .find(({ ticker }) => ticker === currency)
    ?.networks.find(each => each.id === network)?.chainId
  if (chainId) return { depositAddress: `0x${digest.slice(0, 40)}`, extraId: null, chainId }
  if (network === 'ripple') {
    // All share an address, as at exchanges; the tag distinguishes deposits.
    const extraId = String(Number.parseInt(digest.slice(0, 8), 16))
    return { depositAddress: 'rSandboxSandboxSandboxSandbox1234', extraId, chainId: null }
  }
  const bech32 = digest.slice(0, 38).replaceAll(/[1b]/g, 'q')
  return { depositAddress: `bc1q${bech32}`, extraId: null, chainId: null }
}

/** Amounts with which a withdrawal takes another course. */
const MAGIC: Readonly<Record<number, 'rejected' | 'response lost' | 'lost'>> = {
  1_000_001: 'rejected',
  1_000_003: 'response lost',
  1_000_004: 'lost',
}
/** After what time a withdrawal that is ready is completed. */
const COMPLETED_AFTER_MS = 5000
const PORT = 'withdrawals'

/** Makes the built-in provider of withdrawals. The amount decides what happens. */
export function sandboxWithdrawals({ db, clock }: SandboxOptions): WithdrawalProvider {
  const find = async (id: string): Promise<WithdrawalReport | undefined> => {
    const [row] = await rows(db, READ, [PORT, id])
    return row && reportOf(id, toText(row['what']), clock.now() - toInteger(row['at']))
  }
  return {
    name: SANDBOX_PROVIDER,
    assets: async () => sandboxAssets,
    quote: async want => sandboxQuote(want, 'withdrawals'),
    async send(id, { amountCents }, signal) {
      signal.throwIfAborted()
      const what = MAGIC[amountCents] ?? 'sent'
      const first = await rows(db, FIRST, [PORT, id, clock.now(), what])
      if (what === 'rejected') return { rejected: 'The sandbox refuses this amount.' }
      if (first.length > 0 && what !== 'sent')
        throw new Fault('ERR_PROVIDER_UNAVAILABLE', 'the sandbox provider simulates a lost answer')
      const again = `update gw_sandbox_provider_calls set what = 'sent', at = $3
        where port = $1 and id = $2 and what = 'lost'`
      if (what === 'lost') await rows(db, again, [PORT, id, clock.now()])
      return (await find(id)) as WithdrawalReport
    },
    async find(id, signal) {
      signal.throwIfAborted()
      return find(id)
    },
  }
}

function reportOf(id: string, what: string, age: EpochMs): WithdrawalReport | undefined {
  // It never arrived.
  if (what === 'lost') return undefined
  const none = { reason: null, txHash: null, paidCents: null, relay: null }
  if (what === 'rejected') return { ...none, status: 'failed', reason: 'The sandbox refuses this amount.' }
  const relay = { reference: `sandbox-${id}`, payinAddress: null, payinExtraId: null }
  if (what === 'sent' && age < COMPLETED_AFTER_MS) return { ...none, status: 'ready', relay }
  const txHash = `0x${createHash('sha256').update(id).digest('hex')}`
  return { ...none, status: 'completed', txHash, relay }
}
