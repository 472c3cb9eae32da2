import { allow } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import { type Operation, ledgerWrite, listOperation, readOperation, type HostDenial } from '@gatewright/host'
import { component } from '@gatewright/host/schemas'
import { deny } from '../../product/denials.ts'
import { parseDecimal } from '../../providers/decimal.ts'
import type { DepositProvider } from '../../providers/deposits/port.ts'
import { Amount, amountText, quoted } from '../assets.ts'
import { type CreateDepositServices, ACTIVE_MS, createDeposit } from './create.ts'
import { depositQuotes } from './quotes.ts'
import { DepositResponse, depositData, depositExample, DepositSchema, depositsData } from './wire.ts'
import { depositTable } from './deposit.ts'

/** What the operations of deposits work with. */
interface DepositServices extends CreateDepositServices {
  readonly providers: { readonly deposits?: DepositProvider }
}

const SURFACES: readonly Surface[] = ['user', 'partner']
const scope = Type.Enum(['active', 'all'], {
  default: 'active',
  description: '`active` (default): those that wait for money since less than 7 days',
  expected: 'must be active or all',
})
const notFound: HostDenial = deny('not_found', 'nothing has this id')

/** Makes the operations of deposits, if the host has a provider. A sandbox always has one. */
export function depositOperations(services: DepositServices): Operation[] {
  const { environment, providers } = services
  const provider = providers.deposits
  if (!provider) return []
  return [
    ...depositQuotes(provider),
    ...SURFACES.flatMap(surface => [
      createDeposit(surface, services, provider),
      list(surface, services),
      read(surface, services),
      ...(environment === 'sandbox' ? [simulate(surface, services, provider)] : []),
    ]),
  ]
}

const scopesOf = (surface: Surface): string[] => (surface === 'user' ? ['deposits.read'] : [])

function list(
  surface: Surface,
  { deposits, db, clock }: Pick<DepositServices, 'deposits' | 'db' | 'clock'>,
): Operation {
  return listOperation({
    id: 'deposits.list',
    title: 'List deposits, newest first',
    surface,
    path: `/${surface}/v1/deposits`,
    scopes: scopesOf(surface),
    byCreation: true,
    filters: { scope },
    name: 'deposits',
    component: component('DepositList', 'A page of deposits, newest first'),
    item: DepositSchema,
    example: depositExample,
    rows(accountId, page, { query }) {
      const openSince = query.scope === 'active' ? clock.now() - ACTIVE_MS : undefined
      return deposits.page(db, accountId, { ...page, openSince })
    },
    write: rows => depositsData(deposits, db, rows),
  })
}

function read(surface: Surface, { deposits, db }: Pick<DepositServices, 'deposits' | 'db'>): Operation {
  return readOperation({
    id: 'deposits.read',
    title: 'Read a deposit',
    surface,
    paths: [`/${surface}/v1/deposits/{depositId}`],
    response: DepositResponse,
    scopes: scopesOf(surface),
    example: { deposit: depositExample },
    async read({ accountId }, id) {
      const deposit = await depositTable.find(db, accountId, id)
      if (!deposit) return undefined
      return { data: await depositData(deposits, db, deposit), summary: `It is ${deposit.status}.` }
    },
  })
}

const Payment = Type.Object(
  { amount: Type.Optional(Amount) },
  component('SimulatedPayment', 'What is paid. Default: the amount of the deposit, else its smallest'),
)

/** `deposits.simulate`: a payment arrives, for tests in a sandbox. It is applied like a report of the provider. */
function simulate(
  surface: Surface,
  { deposits, db, clock }: Pick<DepositServices, 'deposits' | 'db' | 'clock'>,
  provider: DepositProvider,
): Operation {
  return ledgerWrite<typeof Payment, typeof DepositResponse, { readonly creditedCents: number | undefined }>({
    id: 'deposits.simulate',
    title: 'Pay a deposit (sandbox only)',
    surface,
    method: 'POST',
    paths: [`/${surface}/v1/sandbox/deposits/{depositId}/pay`],
    credential: 'session',
    scopes: ['deposits.write'],
    body: Payment,
    response: DepositResponse,
    spends: false,
    example: { body: { amount: '25' }, response: { deposit: depositExample } },
    denies: [404],
    /** Prices the payment. A payment below the smallest amount is worth nothing. */
    async prepare({ caller, params, body }) {
      const deposit = await depositTable.find(db, caller.session.accountId, params['depositId'] as string)
      if (!deposit) return notFound
      const { currency, network, minAmount } = deposit
      const amount = amountText(body.amount ?? deposit.amount ?? minAmount)
      if (amount === undefined)
        return deny('invalid_request', 'amount must be a decimal number above 0', { field: 'amount' })
      if (parseDecimal(amount) < parseDecimal(minAmount)) return allow({ creditedCents: undefined })
      const quote = await quoted(provider, { currency, network, amount }, 'currency')
      if (!quote.ok) return quote
      const creditedCents = Math.round(Number(quote.value.toAmount) * 100)
      return creditedCents < 1 || creditedCents > 1_000_000_000_000
        ? deny('invalid_request', 'amount is worth too little or too much', { field: 'amount' })
        : allow({ creditedCents })
    },
    async write({ caller, params }, { tx, effectId, prepared: { creditedCents } }) {
      const id = params['depositId'] as string
      const deposit = await depositTable.find(tx, caller.session.accountId, id)
      if (!deposit) return notFound
      const report =
        creditedCents === undefined
          ? { id, status: 'failed' as const, payments: [] }
          : { id, status: 'completed' as const, payments: [{ id: `sim_${effectId}`, creditedCents }] }
      await deposits.report(tx, deposit.provider, report, clock.now())
      const after = (await depositTable.find(tx, caller.session.accountId, id)) ?? deposit
      return allow({ data: await depositData(deposits, tx, after), summary: `It is ${after.status}.` })
    },
  })
}
