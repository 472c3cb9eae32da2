import type { Clock } from '@gatewright/kernel'
import type { TransactionalIdempotency } from '@gatewright/idempotency-store'
import type { Aliases } from '@gatewright/legacy-alias-router'
import type { Guard } from '@gatewright/scope-guard'
import type { Issuer } from '@gatewright/session-issuer'
import type { PickedRecover, RpcClient, Verifier } from '@gatewright/signature-verifier'
import { Token } from 'typedi'
import type { Config } from './config/config.ts'
import type { EntryLimits } from './limits.ts'
import type { CardStore } from './modules/cards/store.ts'
import type { PartnerStore } from './modules/partners/store.ts'
import type { ChainReader } from './chain/reader.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { PayinEndings } from './modules/subscriptions/endings.ts'
import type { OwnAddresses } from './modules/subscriptions/own-address.ts'
import type { PayinStore } from './modules/subscriptions/payin-store.ts'
import type { SubscriptionStore } from './modules/subscriptions/subscription-store.ts'
import type { UserStore } from './modules/users/store.ts'
import type { Metrics } from './observability/metrics.ts'
import type { Backend } from './storage/backend.ts'
import type { Secrets } from './storage/secrets.ts'

/** A token that carries its type both ways, so that a `Key<string>` is not a `Key<number>`. */
export class Key<T> extends Token<T> {
  declare protected readonly carries: (value: T) => T
}

/** What a process brings: opened and closed outside the container. */
export const CONFIG: Key<Config> = new Key('config')
export const CLOCK: Key<Clock> = new Key('clock')
export const BACKEND: Key<Backend> = new Key('backend')
export const SECRETS: Key<Secrets> = new Key('secrets')

/** How signatures are recovered; pure JS unless the caller picks a faster one. */
export const RECOVERY: Key<Pick<PickedRecover, 'recover' | 'keccak256'>> = new Key('recovery')
/** Chains whose contract wallets may prove themselves, by chain id. */
export const CHAINS: Key<Readonly<Record<number, RpcClient>>> = new Key('chains')
/** Chains that pay-ins are paid on, by chain id. */
export const READERS: Key<ReadonlyMap<number, ChainReader>> = new Key('readers')

/** What the container makes from it. */
export const ALIASES: Key<Aliases> = new Key('aliases')
export const VERIFIER: Key<Verifier> = new Key('verifier')
export const ISSUER: Key<Issuer> = new Key('issuer')
export const GUARD: Key<Guard> = new Key('guard')
export const KEY_GUARD: Key<Guard> = new Key('key guard')
export const METRICS: Key<Metrics> = new Key('metrics')
export const LIMITS: Key<EntryLimits> = new Key('limits')
export const IDEMPOTENCY: Key<TransactionalIdempotency> = new Key('idempotency')
export const USERS: Key<UserStore> = new Key('users')
export const PARTNERS: Key<PartnerStore> = new Key('partners')
export const CARDS: Key<CardStore> = new Key('cards')
export const OWN_ADDRESSES: Key<OwnAddresses> = new Key('own-addresses')
export const PAYINS: Key<PayinStore> = new Key('payins')
export const SUBSCRIPTIONS: Key<SubscriptionStore> = new Key('subscriptions')
export const LEDGER: Key<Ledger> = new Key('ledger')
export const ENDINGS: Key<PayinEndings> = new Key('endings')
