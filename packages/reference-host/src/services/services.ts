import { HostFactories, type ServicesOf } from '@gatewright/host'
import type { HostServices } from '@gatewright/host'
import type { EndedLineage } from '@gatewright/session-issuer/internal'
import { createVerifier, type Verifier, type FastestRecover } from '@gatewright/signature-verifier'
import { keccakWithJsSha3, recoverWithJs } from '@gatewright/signature-verifier/internal'
import { type WebTokens } from '@gatewright/host/internal'
import type { ChainReader } from '../chain/reader.ts'
import { rpcClients } from '../chain/rpc-clients.ts'
import { transactionLookups, type TransactionLookups } from '../chain/transaction-lookups.ts'
import { viemReader } from '../chain/viem-reader.ts'
import type { Config } from '../config/config.ts'
import { agreementAcceptances, type AgreementAcceptances } from '../modules/agreement-acceptances.ts'
import { authorizations, type Authorizations } from '../modules/cards/authorizations/service.ts'
import { cardKeyPolicies, keepPoliciesOf, type CardKeyPolicies } from '../modules/cards/key-policies.ts'
import { seedSandboxCards } from '../modules/cards/sandbox-cards.ts'
import { accountCipher, type AccountCipher } from '../modules/encryption/account-cipher.ts'
import { accountKeys } from '../modules/encryption/account-keys.ts'
import { depositRecords, type DepositRecords } from '../modules/deposits/records.ts'
import { kycRecords, type KycRecords } from '../modules/kyc/records.ts'
import { onboardingRequirements } from '../modules/onboarding/requirements.ts'
import { partnerStore, type PartnerStore } from '../modules/partners/store.ts'
import { addressAllocator, type AddressAllocator } from '../modules/subscriptions/onchain/allocate-address.ts'
import { payinSettlement, type PayinSettlement } from '../modules/subscriptions/payins/settlement.ts'
import { providerTokens } from '../modules/tokens/provider-tokens.ts'
import type { TokenUse } from '../modules/tokens/token.ts'
import type { SeedCards } from '../modules/users/resolve.ts'
import { userStore, type UserStore } from '../modules/users/store.ts'
import { createChallengeCodec, type ChallengeCodec } from '../modules/web-sign-in/challenge.ts'
import { webTokens } from '../modules/web-sign-in/web-token.ts'
import { withdrawalRecords, type WithdrawalRecords } from '../modules/withdrawals/records.ts'
import { productMetrics, type ProductMetrics } from '../product/metrics.ts'
import type { Plan } from '../product/plans.ts'
import type { Product } from '../product/product.ts'
import type { PayinReceiver } from '../chain/receivers.ts'
import type { Providers } from '../providers/ports.ts'
import { SANDBOX_PROVIDER } from '../providers/sandbox.ts'
import { hostProviders, sandboxSecret } from './providers.ts'

/**
 * The services of this product, and those of every host. Each is declared here, once; its type follows. No name comes from both sides of
 * the intersection: TypeScript 5 would compare the two types of a replaced service, each of which needs this type (TS2615).
 */
export type Services = Omit<HostServices, keyof ProductFactories | 'config'> & {
  readonly config: Config
} & ServicesOf<ProductFactories>

/** What a start gives. */
interface GivenServices {
  /** Default: the built-in ones in a sandbox, none on live. */
  readonly providers?: Providers
  /** How signer addresses are recovered. Default: pure JavaScript. */
  readonly recovery?: Pick<FastestRecover, 'recover' | 'keccak256'>
}

/** How the services of this product are made, beside those of every host. Those of the same name replace these. */
export class ProductFactories extends HostFactories {
  /** What was given to this host. */
  private readonly given: GivenServices

  constructor(given: GivenServices = {}) {
    super()
    this.given = given
  }

  verifier({ config, origin, backend, issuedFrom, clock }: Services): Verifier {
    const chains = Object.entries(rpcClients(config.rpcUrls)).map(([id, rpc]) => [id, { rpc }] as const)
    const { recover, keccak256 } = this.given.recovery ?? {
      recover: recoverWithJs,
      keccak256: keccakWithJsSha3,
    }
    return createVerifier({
      // The domain that EIP-4361 and v2 statements must name. A sandbox uses the address it listens on.
      domain: new URL(origin).host,
      recover,
      keccak256,
      ...(chains.length > 0 ? { contractWallets: { chains: Object.fromEntries(chains) } } : {}),
      service: config.serviceName,
      nonces: backend.nonces,
      issuedFrom,
      clock,
      // Many clients can share one address. A full queue takes about a third of a second in pure JavaScript.
      recoveries: { waiting: 128, waitingPerClass: 32 },
    })
  }

  product({ config }: Services): Product {
    return config.product
  }

  plans({ config }: Services): readonly Plan[] {
    return config.plans
  }

  receivers({ config }: Services): readonly PayinReceiver[] {
    return config.payinReceivers
  }

  /** Chains on which pay-ins are paid, by chain id. */
  readers({ config: { payinReceivers, rpcUrls } }: Services): ReadonlyMap<number, ChainReader> {
    const wanted = rpcUrls.filter(({ chainId }) => payinReceivers.some(each => each.chainId === chainId))
    return new Map(wanted.map(chain => [chain.chainId, viemReader(chain)]))
  }

  lookups({ readers, clock }: Services): TransactionLookups {
    return transactionLookups(readers, clock)
  }

  productMetrics({ metrics }: Services): ProductMetrics {
    return productMetrics(metrics.registry)
  }

  challenges({ sealer, config, origin }: Services): ChallengeCodec {
    return createChallengeCodec({ sealer, serviceName: config.serviceName, origin })
  }

  override webTokens({ sealer, backend, issuedFrom, clock, origin }: Services): WebTokens {
    return webTokens({ sealer, nonces: backend.nonces, issuedFrom, clock, origin })
  }

  cipher({ db, sealer, clock }: Services): AccountCipher {
    return accountCipher(accountKeys(db, sealer, clock))
  }

  acceptances({ product }: Services): AgreementAcceptances {
    return agreementAcceptances(product.agreements)
  }

  override requirements({ config, acceptances }: Services): HostServices['requirements'] {
    return onboardingRequirements(config.onboardingSurfaces, acceptances)
  }

  providers({ config, backend, clock, secrets, metrics }: Services): Providers {
    return hostProviders(this.given.providers ?? {}, {
      config,
      backend,
      clock,
      secrets,
      count: (port, outcome) => metrics.providerCall(port, outcome),
    })
  }

  override messageVerifiers({ providers }: Services): HostServices['messageVerifiers'] {
    return new Map(
      Object.values(providers).flatMap(({ name, verify }) => (verify ? [[name, verify] as const] : [])),
    )
  }

  /** What the providers of deposits and withdrawals take. Rejects with a fault while one of them is down. */
  providerTokens({ providers }: Services): () => Promise<readonly TokenUse[]> {
    return () => providerTokens(providers)
  }

  kyc({ sealer }: Services): KycRecords {
    return kycRecords(sealer)
  }

  users({ db }: Services): UserStore {
    return userStore(db)
  }

  partners({ db }: Services): PartnerStore {
    return partnerStore(db)
  }

  /** Whether the operator has validated a partner key, which a live host requires. */
  override validated({ environment, partners }: Services): (keyId: string) => Promise<boolean> {
    return async keyId => environment === 'sandbox' || (await partners.validatedKeys([keyId])).has(keyId)
  }

  cardKeyPolicies({ db, issuer }: Services): CardKeyPolicies {
    return cardKeyPolicies(db, issuer)
  }

  override endedKeys(services: Services): HostServices['endedKeys'] {
    return {
      // Read when it is called: the issuer, which the policies are read from, needs this service.
      keep: signal => services.cardKeyPolicies.keep(signal, services.report),
      keepOf: (lineages: readonly EndedLineage[]) => keepPoliciesOf(services.db, lineages, services.report),
    }
  }

  /** What gives new partner users their cards. Only the built-in issuer can: another one would issue real cards. */
  seedCards({ providers, secrets }: Services): SeedCards {
    return providers.cards?.name === SANDBOX_PROVIDER
      ? seedSandboxCards(sandboxSecret(secrets))
      : async () => {}
  }

  addressAllocator({ receivers }: Services): AddressAllocator {
    return addressAllocator(receivers)
  }

  authorizations({ guard, ledger, money, spendStorage, productMetrics: counters }: Services): Authorizations {
    return authorizations({
      guard,
      ledger,
      money,
      spendStorage,
      count: (outcome, reason) => counters.authorization(outcome, reason),
    })
  }

  deposits({ money, report }: Services): DepositRecords {
    return depositRecords({ money, report })
  }

  withdrawals({ money, guard, spendStorage }: Services): WithdrawalRecords {
    return withdrawalRecords({ money, guard, spendStorage })
  }

  settlement({ money, guard, spendStorage }: Services): PayinSettlement {
    return payinSettlement({ money, guard, spendStorage })
  }
}
