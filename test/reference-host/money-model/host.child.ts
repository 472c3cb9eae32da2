// A host process with providers of deposits and withdrawals that keep a journal in a file, which outlives the process. They take
// every call: an id that is sent twice takes effect twice. While the file `<journal>.down` exists, they are down.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { Fault } from '@gatewright/kernel'
import {
  readConfig,
  startHost,
  type WithdrawalProvider,
  type WithdrawalReport,
} from '@gatewright/reference-host'
import type { Asset } from '#packages/reference-host/dist/providers/catalogue.js'
import type { DepositProvider } from '#packages/reference-host/dist/providers/deposits/port.js'

const JOBS_EVERY_MS = 250
const journal = process.env['JOURNAL'] as string

const has = (line: string): boolean =>
  existsSync(journal) && readFileSync(journal, 'utf8').split('\n').includes(line)
const note = (line: string): void => appendFileSync(journal, `${line}\n`)
function unavailable(why: string): never {
  throw new Fault('ERR_PROVIDER_UNAVAILABLE', why)
}
function reach(): void {
  if (existsSync(`${journal}.down`)) unavailable('the provider is down')
}

const network = {
  id: 'base',
  label: 'Base',
  chainId: 8453,
  tokenContract: null,
  decimals: 6,
  supportsExtraId: false,
}
const asset: Asset = { ticker: 'usdc', name: 'USD Coin', icon: null, networks: [network] }
const catalogue = {
  async assets() {
    reach()
    return [asset]
  },
  async quote({ amount = '1' }: { readonly amount?: string }) {
    reach()
    return {
      minAmount: '0.01',
      maxAmount: null,
      minAmountCents: 100,
      maxAmountCents: 5_000_000,
      toAmount: amount,
      feeCents: 50,
      rateId: null,
      validUntil: null,
    }
  },
}
const deposits: DepositProvider = {
  ...catalogue,
  name: 'journal',
  async open(id) {
    reach()
    return {
      reference: id,
      depositAddress: `address-of-${id}`,
      extraId: null,
      chainId: null,
      minAmount: '0.01',
      maxAmount: null,
    }
  },
  async find() {
    reach()
    return { status: 'awaitingDeposit', payments: [] }
  },
}

const none = { reason: null, txHash: null, paidCents: null, relay: null }
const ready: WithdrawalReport = { ...none, status: 'ready' }
/** The magic amounts of the built-in provider. What else it took stays `ready` until the test reports its end. */
const withdrawals: WithdrawalProvider = {
  ...catalogue,
  name: 'journal',
  async send(id, { amountCents }) {
    reach()
    if (amountCents === 1_000_001) return { rejected: 'This amount is refused.' }
    if (amountCents === 1_000_004 && !has(`lost ${id}`)) {
      note(`lost ${id}`)
      unavailable('the request is lost')
    }
    note(`send ${id}`)
    if (amountCents === 1_000_003) unavailable('the response is lost')
    return ready
  },
  async find(id) {
    reach()
    return has(`send ${id}`) ? ready : undefined
  },
}

const config = readConfig(process.env)
if (!config.ok) throw new Error(config.problems.join('; '))
/** What the host reports of a payment id that it has credited before. */
const IS_CONFLICT = /^payment .* was not credited: journal gave its id to another payment$/
/** What it reports when a store is away, as a busy machine makes it seem, and when it is back. */
const IS_OUTAGE = /^not ready, |works again after \d+ s$/
const isExpected = (error: unknown): boolean =>
  (error instanceof Error && [IS_CONFLICT, IS_OUTAGE].some(text => text.test(error.message))) ||
  (error instanceof Fault && ['ERR_PROVIDER_UNAVAILABLE', 'ERR_STORE_UNAVAILABLE'].includes(error.code))
const report = (error: unknown): void => {
  if (!isExpected(error)) console.error('unexpected failure:', error)
}
const host = await startHost(config.value, {
  report,
  providers: { deposits, withdrawals },
  observe: ({ failure }) => failure !== undefined && report(failure),
})
// More often than a host does, so that much happens in the short time of the test.
const rounds = host.chores.filter(({ name }) => name.startsWith('run jobs '))
const timer = setInterval(() => {
  for (const round of rounds) void round.run(new AbortController().signal).catch(report)
}, JOBS_EVERY_MS)
process.on('SIGTERM', () => {
  clearInterval(timer)
  void host.close().then(() => process.exit())
})
console.log(`The host listens on ${host.url}\nReady.`)
