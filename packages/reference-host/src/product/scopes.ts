import { scopeCatalogue, type ScopeCatalogue } from '@gatewright/kernel'

/** Scopes of the user surface, for user keys and user sessions. */
const USER = [
  'users.read',
  'users.write',
  'kyc.read',
  'kyc.write',
  'agreements.read',
  'agreements.write',
  'onboarding.read',
  'onboarding.write',
  'cards.read',
  'cards.write',
  'cards.secrets.read',
  'folders.read',
  'folders.write',
  'balances.read',
  'contracts.read',
  'contracts.write',
  'deposits.read',
  'deposits.write',
  'withdrawals.write',
  'transactions.read',
  'tokens.read',
  'encryption.read',
  'encryption.write',
  'identity.read',
  'identity.write',
  'payments.read',
  'payments.write',
  'subscriptions.read',
  'subscriptions.write',
  'notifications.read',
  'notifications.write',
  'referrals.read',
  'referrals.write',
  'bills.read',
  'bills.write',
  'support.read',
  'spotlight.read',
  'keys.read',
  'keys.write',
  'approvals.write',
  'sessions.write',
] as const

/** Scopes of the partner surface. */
const PARTNER = [
  'users.read',
  'users.write',
  'kyc.read',
  'kyc.write',
  'cards.read',
  'cards.write',
  'cards.secrets.read',
  'encryption.read',
  'encryption.write',
  'deposits.read',
  'deposits.write',
  'transactions.read',
  'withdrawals.write',
] as const

type UserScope = (typeof USER)[number]
type PartnerScope = (typeof PARTNER)[number]

export const userScopes: ScopeCatalogue<UserScope> = scopeCatalogue(USER)
export const partnerScopes: ScopeCatalogue<PartnerScope> = scopeCatalogue(PARTNER)
/** The scopes of both surfaces without repetition. */
export const allScopes: ScopeCatalogue<UserScope | PartnerScope> = scopeCatalogue([
  ...new Set([...USER, ...PARTNER]),
])
