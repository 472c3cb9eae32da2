import { allow, type Session, type Verdict } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { rowLock } from '@gatewright/kernel/internal/sql'
import type { HostDenial, HostServices } from '@gatewright/host'
import { deny, type ProductRule } from '../../product/denials.ts'
import type { AgreementAcceptances } from '../agreement-acceptances.ts'
import { LOCKED_STATUSES, type KycStatus } from '../kyc/states.ts'

/**
 * Makes the onboarding requirements of a host. On the given surfaces, an account needs an approved identity check and accepted
 * agreements.
 */
export function onboardingRequirements(
  surfaces: readonly Surface[],
  acceptances: AgreementAcceptances,
): HostServices['requirements'] {
  return {
    async check(db, { accountId, surface }) {
      const { status, lock } = await readAccount(db, accountId)
      if (lock) return accountLocked(surface, lock)
      if (!surfaces.includes(surface)) return allow(undefined)
      if (status !== 'approved')
        return requirementDenied(
          surface,
          'kyc_required',
          'kyc required: submit an application and wait until it is approved',
        )
      const acceptedAt = await acceptances.acceptedAt(db, accountId)
      return acceptedAt === undefined
        ? requirementDenied(surface, 'agreements_required', 'agreements required: accept the agreements')
        : allow(undefined)
    },
    async checkLock(db, { accountId, surface }) {
      const { lock } = await readAccount(db, accountId)
      return lock ? accountLocked(surface, lock) : allow(undefined)
    },
  }
}

/**
 * Whether an account is locked: by the status of its identity check, or because an operator has frozen it. If so, writes with onboarding
 * requirements, payments of pay-ins from its balance and payments by card are denied. A locked account can still receive money, and move money
 * between its balance and its contracts. In a transaction the account stays as it is until the transaction ends: see `freezeAccount`.
 */
export async function isAccountLocked(db: SqlQueries, accountId: string): Promise<boolean> {
  return (await readAccount(db, accountId)).lock !== undefined
}

/** Denies a frozen account, for what it may do while only its identity check locks it, such as to make a key. */
export async function denyFrozen(
  db: SqlQueries,
  { accountId, surface }: Pick<Session, 'accountId' | 'surface'>,
): Promise<Verdict<undefined, HostDenial>> {
  const { lock } = await readAccount(db, accountId)
  return lock === 'frozen' ? accountLocked(surface, lock) : allow(undefined)
}

/** Why an account is locked. */
type Lock = 'identity' | 'frozen'

/** A lock that lets all other changes of the account pass, and waits for a freeze of it, which waits for this one. */
async function readAccount(
  db: SqlQueries,
  accountId: string,
): Promise<{ readonly status: KycStatus; readonly lock: Lock | undefined }> {
  const text = `select kyc_status, frozen_at from gw_users where account_id = $1${rowLock(db, 'for key share')}`
  const [row] = await rows(db, text, [accountId])
  const status = row?.['kyc_status'] as KycStatus
  if (row && row['frozen_at'] !== null) return { status, lock: 'frozen' }
  return { status, lock: LOCKED_STATUSES.includes(status) ? 'identity' : undefined }
}

const accountLocked = (surface: Surface, lock: Lock): Verdict<never, HostDenial> =>
  requirementDenied(surface, 'account_locked', `account locked: ${LOCK_WORDS[lock]}`)

const LOCK_WORDS: Readonly<Record<Lock, string>> = {
  identity: 'ask support',
  frozen: 'the operator has frozen it, and nothing leaves it until the operator unfreezes it',
}

/** Makes the denial for an unmet requirement. Partner clients search for the first words of its message. */
function requirementDenied(surface: Surface, rule: ProductRule, message: string): Verdict<never, HostDenial> {
  return surface === 'partner'
    ? deny('invalid_state', message)
    : deny('policy_blocked', message, { details: { rule } })
}
