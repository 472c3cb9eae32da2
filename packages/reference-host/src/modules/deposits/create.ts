import { allow, Fault, type Verdict, type EpochMs } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import * as Type from 'typebox/type'
import { component } from '@gatewright/host/schemas'
import { type HostServices, type Call, type Operation, ledgerWrite, type HostDenial } from '@gatewright/host'
import { readAddress } from '../../chain/addresses.ts'
import { deny } from '../../product/denials.ts'
import { isRejection } from '../../providers/reply.ts'
import { parseDecimal } from '../../providers/decimal.ts'
import type { DepositProvider, NewDeposit, OpenDeposit } from '../../providers/deposits/port.ts'
import { lockAccountFirst } from '../users/lock-account.ts'
import { Amount, amountText, assetMembers, noSignal, quoted } from '../assets.ts'
import { FIND_JOB } from './job.ts'
import { creditPlayMoney, PlayMoney } from './play-money.ts'
import { DepositResponse, depositData, depositExample, DepositSchema } from './wire.ts'
import { depositTable } from './deposit.ts'
import type { DepositRecords } from './records.ts'

/** What the creation of a deposit works with. */
export interface CreateDepositServices
  extends Pick<HostServices, 'clock' | 'db' | 'environment' | 'jobs' | 'money' | 'requirements'> {
  readonly deposits: DepositRecords
}

/** Maximum number of deposits of the last 7 days without a payment. */
const MAX_WAITING = 20
/** How long a deposit without a payment is listed as active, and counted. */
export const ACTIVE_MS = 7 * 86_400_000

const amount = Type.Optional(Amount)
const Body = Type.Object(
  { ...assetMembers, amount },
  component('DepositRequest', 'What the account is going to send'),
)
/** The body in a sandbox: for play money, or for a deposit of the provider. */
const SandboxBody = Type.Object(
  {
    amountCents: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'Play money to credit, in US cents' }),
    ),
    currency: Type.Optional({ ...assetMembers.currency, description: '`USD` or none for play money' }),
    network: Type.Optional(assetMembers.network),
    amount,
  },
  component('SandboxDepositRequest', 'How much play money to credit, or what the account is going to send'),
)
const SandboxResponse = Type.Object(
  { deposit: Type.Union([PlayMoney, DepositSchema]) },
  component('SandboxDepositResponse', 'Play money that was credited, or a deposit that was opened'),
)
type SandboxRequest = Type.Static<typeof SandboxBody>

const missing = (field: string): HostDenial => deny('invalid_request', `${field} is required`, { field })

/** Makes `deposits.create` of a surface. Play money is credited only to users of a sandbox, and has no requirements. */
export function createDeposit(
  surface: Surface,
  services: CreateDepositServices,
  provider: DepositProvider,
): Operation {
  const playable = surface === 'user' && services.environment === 'sandbox'
  const { deposits, requirements, clock, jobs, db } = services
  const isPlay = ({ network, currency = 'USD' }: SandboxRequest): boolean =>
    playable && network === undefined && currency === 'USD'
  /** Checks the requirements of the user surface, which do not apply to play money. A denial is never stored. */
  const passes = (on: SqlQueries, { caller }: Call<'session', unknown>) =>
    surface === 'user' ? requirements.check(on, caller.session) : Promise.resolve(allow(undefined))

  return ledgerWrite<typeof SandboxBody, typeof SandboxResponse, (NewDeposit & OpenDeposit) | undefined>({
    id: 'deposits.create',
    title: 'Create a deposit',
    details: playable
      ? 'Adds play money to the balance at once, or opens a deposit in the named asset.'
      : 'Opens a deposit in the named asset.',
    surface,
    method: 'POST',
    paths: [`/${surface}/v1/deposits`],
    credential: 'session',
    scopes: surface === 'user' ? ['deposits.write'] : [],
    body: playable ? SandboxBody : (Body as never),
    response: playable ? SandboxResponse : (DepositResponse as never),
    example: {
      body: { currency: 'usdc', network: 'base', amount: '25' },
      response: {
        deposit: { ...depositExample, status: 'awaitingDeposit', creditedCents: 0, payments: [] },
      },
    },
    // Spend caps do not apply to incoming money.
    spends: false,
    ...(surface === 'partner' ? { requires: 'onboarding' as const, denies: [409] as const } : {}),
    async prepare(call, effectId) {
      const { caller, body } = call
      if (isPlay(body)) return body.amountCents === undefined ? missing('amountCents') : allow(undefined)
      const passed = await passes(db, call)
      if (!passed.ok) return passed
      const id = `dep_${effectId}`
      const { accountId } = caller.session
      if (await depositTable.find(db, accountId, id)) return allow(undefined)
      // Checked before the call to the provider: a deposit that is denied afterwards stays open at the provider.
      const below = await checkWaiting(db, accountId, clock.now())
      if (!below.ok) return below
      return open(provider, id, body)
    },
    async write(call, { tx, effectId, prepared }) {
      const { accountId } = call.caller.session
      const { amountCents } = call.body
      if (isPlay(call.body) && amountCents !== undefined)
        return creditPlayMoney(services, call.caller.session, amountCents, { tx, effectId })
      const passed = await passes(tx, call)
      if (!passed.ok) return passed
      const id = `dep_${effectId}`
      const now = clock.now()
      await lockAccountFirst(tx, accountId)
      let deposit = await depositTable.find(tx, accountId, id)
      if (!deposit && prepared) {
        const below = await checkWaiting(tx, accountId, now)
        if (!below.ok) return below
        deposit = await deposits.create(tx, { id, accountId, provider: provider.name, ...prepared }, now)
        await jobs.add(tx, { kind: FIND_JOB, accountId, subjectId: id }, now)
      }
      if (!deposit) throw new Error(`deposit ${id} was there before its write and is gone`)
      const data = await depositData(deposits, tx, deposit)
      return allow({ data, summary: 'Send the asset to the address of the deposit.' })
    },
  })
}

/**
 * Opens the deposit at the provider, which returns the same address for the same id. For an amount outside the range it opens
 * nothing. Fault, rejected: `ERR_PROVIDER_REPLY` for an address that breaks the rule of its network.
 */
async function open(
  provider: DepositProvider,
  id: string,
  body: SandboxRequest,
): Promise<Verdict<NewDeposit & OpenDeposit, HostDenial>> {
  if (body.currency === undefined) return missing('currency')
  if (body.network === undefined) return missing('network')
  const given = body.amount === undefined ? null : amountText(body.amount)
  if (given === undefined)
    return deny('invalid_request', 'amount must be a decimal number above 0', { field: 'amount' })
  const want = {
    currency: body.currency.toLowerCase(),
    network: body.network.toLowerCase(),
    amount: given,
  }
  if (given !== null) {
    const quote = await quoted(provider, { ...want, amount: given }, 'currency')
    const inside = quote.ok ? insideRange(given, quote.value) : quote
    if (!inside.ok) return inside
  }
  const opened = await provider.open(id, want, noSignal)
  if (isRejection(opened))
    return deny('invalid_request', `currency and network: ${opened.rejected}`, { field: 'currency' })
  // Money that is sent to a mistyped address is lost.
  if (!readAddress({ id: want.network, chainId: opened.chainId }, opened.depositAddress))
    throw new Fault(
      'ERR_PROVIDER_REPLY',
      `provider ${provider.name} opened deposit ${id} at what is no address of ${want.network}`,
    )
  // The limits of an opened deposit may differ from those of the quote.
  const inside = given === null ? allow(undefined) : insideRange(given, opened)
  return inside.ok ? allow({ ...want, ...opened }) : inside
}

type Range = Pick<OpenDeposit, 'minAmount' | 'maxAmount'>

function insideRange(given: string, range: Range): Verdict<undefined, HostDenial> {
  if (!isOutside(given, range)) return allow(undefined)
  const most = range.maxAmount ?? 'no limit'
  return deny('invalid_request', `amount must be from ${range.minAmount} to ${most}`, { field: 'amount' })
}

/** Whether an amount of an asset is outside limits. */
export function isOutside(given: string, { minAmount, maxAmount }: Range): boolean {
  const value = parseDecimal(given)
  return value < parseDecimal(minAmount) || (maxAmount !== null && value > parseDecimal(maxAmount))
}

async function checkWaiting(
  db: SqlQueries,
  accountId: string,
  now: EpochMs,
): Promise<Verdict<undefined, HostDenial>> {
  const text = `select count(*) as n from gw_deposits
    where account_id = $1 and status in ('awaitingDeposit', 'processing') and created_at > $2`
  const [row] = await rows(db, text, [accountId, now - ACTIVE_MS])
  if (toInteger(row?.['n']) < MAX_WAITING) return allow(undefined)
  const message = `${MAX_WAITING} deposits wait for money: pay one of them first`
  return deny('policy_blocked', message, { details: { rule: 'max_deposits' } })
}
