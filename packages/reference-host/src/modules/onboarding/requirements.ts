import { allow, type Verdict } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import type { HostDenial, Requirements } from '@gatewright/host/internal'
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
): Requirements {
  return {
    async check(db, { accountId, surface }) {
      const status = await kycStatus(db, accountId)
      if (LOCKED_STATUSES.includes(status)) return accountLocked(surface)
      if (!surfaces.includes(surface)) return allow(undefined)
      if (status !== 'approved') return requirementDenied(surface, 'kyc_required', 'kyc required')
      const acceptedAt = await acceptances.acceptedAt(db, accountId)
      return acceptedAt === undefined
        ? requirementDenied(surface, 'agreements_required', 'agreements required')
        : allow(undefined)
    },
    async checkLock(db, { accountId, surface }) {
      return (await isAccountLocked(db, accountId)) ? accountLocked(surface) : allow(undefined)
    },
  }
}

/**
 * Whether the status of its identity check locks an account. If so, writes with onboarding requirements, payments of pay-ins
 * from its balance and payments by card are denied. A locked account can still receive money, and move money between its
 * balance and its contracts.
 */
export async function isAccountLocked(db: SqlQueries, accountId: string): Promise<boolean> {
  return LOCKED_STATUSES.includes(await kycStatus(db, accountId))
}

async function kycStatus(db: SqlQueries, accountId: string): Promise<KycStatus> {
  const [row] = await rows(db, 'select kyc_status from gw_users where account_id = $1', [accountId])
  return row?.['kyc_status'] as KycStatus
}

const accountLocked = (surface: Surface): Verdict<never, HostDenial> =>
  requirementDenied(surface, 'account_locked', 'account locked')

/**
 * Makes the denial for an unmet requirement. Its message begins with `words`, which partner clients search for, and then says
 * what to do.
 */
function requirementDenied(surface: Surface, rule: ProductRule, words: string): Verdict<never, HostDenial> {
  const hint = {
    account_locked: 'ask support',
    kyc_required: 'submit an application and wait until it is approved',
    agreements_required: 'accept the agreements',
  }[rule as 'account_locked' | 'kyc_required' | 'agreements_required']
  const message = `${words}: ${hint}`
  return surface === 'partner'
    ? deny('invalid_state', message)
    : deny('policy_blocked', message, { details: { rule } })
}
