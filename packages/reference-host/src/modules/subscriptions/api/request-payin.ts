import { allow, Fault, type Verdict } from '@gatewright/kernel'
import { addressBucket } from '@gatewright/kernel/address'
import type { SqlQueries } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import type { Static } from 'typebox/type'
import { idText, Currency } from '@gatewright/host/schemas'
import type { HostDenial, HostServices, Call, WriteContext } from '@gatewright/host'
import { chainIdInput, readChainId } from '../../../chain/chain-id.ts'
import { unitsOf, type PayinReceiver } from '../../../chain/receivers.ts'
import { deny } from '../../../product/denials.ts'
import { payinPayee } from '../../../product/payees.ts'
import { lockAccountFirst } from '../../users/lock-account.ts'
import type { AddressAllocator, AddressRequest } from '../onchain/allocate-address.ts'
import type { Payin, PayTo } from '../payins/payin.ts'
import { payins } from '../payins/payin-store.ts'
import type { UserStore } from '../../users/store.ts'

/** What the creation of a pay-in works with. */
export interface PayinRequestServices extends Pick<HostServices, 'clock'> {
  readonly users: UserStore
  readonly receivers: readonly PayinReceiver[]
  readonly addressAllocator: AddressAllocator
}

/** Request members that say how a pay-in is paid. */
export const payinTerms = {
  currency: Type.Optional(Currency),
  method: Type.Optional(
    Type.Enum(['onchain', 'balance'], { description: 'How to pay it. Default: onchain' }),
  ),
  asset: Type.Optional(idText(40, 'The token to pay with. Default: the first of the chain')),
  chainId: Type.Optional(chainIdInput('The chain to pay on (default: the first that is configured)')),
  payFrom: Type.Optional(
    Type.Enum(['wallet', 'anywhere'], {
      description: '`anywhere` requests a deposit address, to which anybody may send. Default: wallet',
    }),
  ),
  metadata: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'Kept with the pay-in as it is, like members that the host does not know: all of them at most 4096 bytes as JSON',
      },
    ),
  ),
}
const Terms = Type.Object(payinTerms)
type Terms = Static<typeof Terms>

/** Maximum size of the unused request members that a pay-in stores, in bytes of JSON in UTF-8. */
const MAX_PROPERTIES_BYTES = 4096
/** Maximum number of an account's pay-ins that can still be paid. */
const MAX_OPEN_PAYINS = 100

/** What a pay-in pays for. */
export interface Purchase {
  /** The server's own price, or the requested amount of a pay-in that fills the balance. */
  readonly amountCents: number
  readonly planId: string | null
  readonly subscriptionId: string | null
}

/** Request members that the pay-in stores in fields of their own. */
const KNOWN_PROPERTIES = new Set([
  'subscriptionId',
  'plan',
  'amountCents',
  'currency',
  'method',
  'asset',
  'chainId',
  'payFrom',
])

/**
 * Reserves the price under the caller's caps and creates the pay-in. A repeat of the same request gets the existing pay-in in
 * its current state. Denials: `invalid_request` (the unused members are larger than 4096 bytes, there is no such receiver, or
 * nothing would identify this account as the payer), `policy_blocked` (a cap, or rule `max_payins`: the account has 100 open
 * pay-ins). Pay-ins are counted while the row of the account is locked, so simultaneous requests do not exceed 100.
 */
export async function requestPayin(
  services: PayinRequestServices,
  { facts, caller, body }: Call<'session', Terms>,
  { tx, effectId, reserve, permits, spendsNothing }: WriteContext,
  purchase: Purchase,
): Promise<Verdict<Payin>> {
  const { accountId, userId, keyId } = caller.session
  const { currency = 'USD', method = 'onchain' } = body
  const { amountCents } = purchase
  const now = services.clock.now()
  await lockAccountFirst(tx, accountId)
  const { existing, open } = await payins.findOrCountOpen(tx, accountId, effectId)
  // Checked before a hold is reserved: without a new pay-in, nothing would ever release the hold.
  if (existing) {
    spendsNothing()
    const permitted = await permits(existing)
    return permitted.ok ? allow(existing) : permitted
  }
  const properties = keptProperties(body)
  if (!properties.ok) return properties
  const receiver = chooseReceiver(services.receivers, body)
  if (!receiver.ok) return receiver
  if (open >= MAX_OPEN_PAYINS) return tooManyPayins
  const payee = payinPayee(accountId, purchase.planId)
  const hold = await reserve({ amountCents, currency, payee })
  if (!hold.ok) return hold
  // The address is allocated after the hold: an allocation locks a row that other requests wait for, so it must not itself wait
  // for a cap.
  const request = { accountId, clientBucket: addressBucket(facts.address), now }
  const payment = { amountCents, payFrom: body.payFrom, request }
  const payTo =
    method === 'onchain' && receiver.value !== null
      ? await choosePayTo(services, tx, payment, receiver.value)
      : allow(null)
  if (!payTo.ok) return payTo
  const { operation } = caller.rule
  const payin = {
    accountId,
    userId,
    keyId,
    operation,
    ...purchase,
    currency,
    method,
    properties: properties.value,
    payTo: payTo.value,
  }
  return allow(await payins.insert(tx, { effectId, hold: hold.value }, payin, now))
}

const tooManyPayins = deny(
  'policy_blocked',
  `the account has ${MAX_OPEN_PAYINS} open pay-ins: pay one, or wait until one ends, at most 24 hours`,
  { details: { rule: 'max_payins' } },
)

/** Maximum length of a member's name that a denial repeats, in characters. */
const LONGEST_FIELD = 120

/**
 * Returns the unused request members that the pay-in stores unchanged. Denied, with the largest one as field, if they are
 * larger than 4096 bytes.
 */
function keptProperties(body: Terms): Verdict<Readonly<Record<string, unknown>>, HostDenial> {
  const kept = Object.entries(body).filter(([name]) => !KNOWN_PROPERTIES.has(name))
  const properties = Object.fromEntries(kept)
  const bytes = bytesOf(properties)
  if (bytes <= MAX_PROPERTIES_BYTES) return allow(properties)
  const sizes = kept.map(([name, value]) => ({ name, bytes: bytesOf({ [name]: value }) }))
  const largest = sizes.reduce((one, other) => (other.bytes > one.bytes ? other : one))
  const message = `members that are kept with the pay-in must have at most ${MAX_PROPERTIES_BYTES} bytes as JSON, got ${bytes}`
  return deny('invalid_request', message, { field: largest.name.slice(0, LONGEST_FIELD) })
}

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/**
 * Chooses the receiver by the requested chain and asset, else the first one. Null when none is configured.
 */
function chooseReceiver(
  receivers: readonly PayinReceiver[],
  { chainId, asset, method }: Terms,
): Verdict<PayinReceiver | null, HostDenial> {
  const [first] = receivers
  if (!first || method === 'balance') return allow(null)
  const wanted = chainId === undefined ? undefined : readChainId(chainId)
  const onChain = wanted === undefined ? receivers : receivers.filter(each => each.chainId === wanted)
  if (onChain.length === 0) {
    const chains = [...new Set(receivers.map(each => each.chainId))]
    return deny('invalid_request', `chainId must be one of ${chains.join(', ')}`, { field: 'chainId' })
  }
  const found = asset === undefined ? onChain[0] : onChain.find(each => each.asset === asset)
  if (found) return allow(found)
  const assets = onChain.map(each => each.asset).join(', ')
  return deny('invalid_request', `asset must be one of ${assets}`, { field: 'asset' })
}

interface Payment {
  readonly amountCents: number
  readonly payFrom: Terms['payFrom']
  readonly request: AddressRequest
}

/**
 * Chooses the address to pay to: the shared receiver when the sender identifies the account, else a deposit
 * address.
 */
async function choosePayTo(
  { users, addressAllocator }: Pick<PayinRequestServices, 'users' | 'addressAllocator'>,
  tx: SqlQueries,
  { amountCents, payFrom = 'wallet', request }: Payment,
  receiver: PayinReceiver,
): Promise<Verdict<PayTo, HostDenial>> {
  const { chainId, asset, token, decimals } = receiver
  // Transfers from before the first reading of a chain would never be found.
  if (!(await payins.isChainRead(tx, chainId))) {
    throw new Fault('ERR_STORE_UNAVAILABLE', `chain ${chainId} was not read yet`)
  }
  const terms = { chainId, asset, token, units: unitsOf(amountCents, decimals) }
  const payer = payFrom === 'wallet' ? await users.payingWallet(tx, request.accountId, chainId) : undefined
  if (payer !== undefined) return allow({ ...terms, address: receiver.receiver, payer, ownReceiver: false })
  const own = await addressAllocator.allocate(tx, receiver, request)
  if (!own.ok) return own
  if (own.value !== undefined) return allow({ ...terms, address: own.value, payer: null, ownReceiver: true })
  return payFrom === 'anywhere'
    ? deny('invalid_request', 'no deposit address is free: pay from the wallet', { field: 'payFrom' })
    : deny(
        'invalid_request',
        `this account has no wallet on chain ${chainId} that would identify its payment`,
        {
          field: 'chainId',
        },
      )
}
