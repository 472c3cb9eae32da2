import { allow, Fault, type Verdict } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import Type, { type Static } from 'typebox'
import { unitsOf, type PayinReceiver } from '../../chain/receivers.ts'
import { deny, type HostDenial } from '../../server/codes.ts'
import type { Call, Effect } from '../../server/operation.ts'
import type { ModuleServices } from '../services.ts'
import type { Payin, PayTo } from './payin.ts'

/** How a pay-in is to be paid: what every request that makes one may say. */
export const payinTerms = {
  currency: Type.Optional(Type.Enum(['USD'])),
  method: Type.Optional(Type.Enum(['onchain', 'balance'])),
  asset: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
  chainId: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1 }), Type.String({ pattern: '^[1-9][0-9]{0,15}$' })]),
  ),
  metadata: Type.Optional(Type.Object({})),
}
const Terms = Type.Object(payinTerms)
type Terms = Static<typeof Terms>

/** What is paid for. */
export interface Purchase {
  /** The server's own price, or what the caller names for an open pay-in. */
  readonly amountCents: number
  readonly planId: string | null
  readonly subscriptionId: string | null
}

/** Properties of a request that the pay-in holds under names of its own. */
const OWN = new Set(['subscriptionId', 'plan', 'amountCents', 'currency', 'method', 'asset', 'chainId'])

/**
 * Reserves the price under the caller's caps and adds the pay-in. Denials: `invalid_request` (no such receiver, or nobody
 * could tell that the payment is this account's), `policy_blocked`.
 */
export async function requestPayin(
  services: Pick<ModuleServices, 'clock' | 'payins' | 'users' | 'receivers'>,
  { caller, body }: Call<'session', Terms>,
  { tx, effectId, reserve }: Effect,
  purchase: Purchase,
): Promise<Verdict<Payin>> {
  const { accountId, userId } = caller.session
  const { currency = 'USD', method = 'onchain' } = body
  const { amountCents } = purchase
  const receiver = receiverFor(services.receivers, body)
  if (!receiver.ok) return receiver
  const hold = await reserve({ amountCents, currency })
  if (!hold.ok) return hold
  const payTo =
    method === 'onchain' && receiver.value !== null
      ? await payableTo(services, tx, accountId, amountCents, receiver.value)
      : allow(null)
  if (!payTo.ok) return payTo
  const properties = Object.fromEntries(Object.entries(body).filter(([name]) => !OWN.has(name)))
  const payin = { accountId, userId, ...purchase, currency, method, properties, payTo: payTo.value }
  return allow(await services.payins.insert(tx, { effectId, hold: hold.value }, payin, services.clock.now()))
}

/** The configured receiver that the request names by chain or asset, else the first; null: none is configured. */
function receiverFor(
  receivers: readonly PayinReceiver[],
  { chainId, asset, method }: Terms,
): Verdict<PayinReceiver | null, HostDenial> {
  const [first] = receivers
  if (!first || method === 'balance') return allow(null)
  const onChain =
    chainId === undefined ? receivers : receivers.filter(each => each.chainId === Number(chainId))
  if (onChain.length === 0) {
    const chains = [...new Set(receivers.map(each => each.chainId))]
    return deny('invalid_request', `chainId must be one of ${chains.join(', ')}`, { field: 'chainId' })
  }
  const found = asset === undefined ? onChain[0] : onChain.find(each => each.asset === asset)
  if (found) return allow(found)
  const assets = onChain.map(each => each.asset).join(', ')
  return deny('invalid_request', `asset must be one of ${assets}`, { field: 'asset' })
}

/** The address to pay to: one of its own while there are free ones, else the shared one if the payer can be told by it. */
async function payableTo(
  { payins, users }: Pick<ModuleServices, 'payins' | 'users'>,
  tx: SqlQueries,
  accountId: string,
  amountCents: number,
  { chainId, asset, token, decimals, receiver, depositAddresses }: PayinReceiver,
): Promise<Verdict<PayTo, HostDenial>> {
  // A transfer of before the first reading would never be found.
  if (!(await payins.isChainRead(tx, chainId))) {
    throw new Fault('ERR_STORE_UNAVAILABLE', `chain ${chainId} was not read yet`)
  }
  const units = unitsOf(amountCents, decimals)
  const own = depositAddresses.length === 0 ? undefined : await payins.freeAddress(tx, chainId)
  if (own !== undefined) {
    return allow({ chainId, asset, token, address: own, units, payer: null, ownReceiver: true })
  }
  const payer = await users.payer(tx, accountId, chainId)
  if (payer !== undefined) {
    return allow({ chainId, asset, token, address: receiver, units, payer, ownReceiver: false })
  }
  const message = `this account has no wallet on chain ${chainId} that a payment could be told by`
  return deny('invalid_request', message, { field: 'chainId' })
}
