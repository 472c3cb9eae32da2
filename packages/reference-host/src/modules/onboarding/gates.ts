import { allow, type Surface, type Verdict } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { deny, type HostDenial, type HostRule } from '../../http/codes.ts'
import type { Gates } from '../../http/gates.ts'
import type { AgreementAcceptances } from '../agreements/acceptance.ts'

/** Identity states in which an account may create nothing, whatever the configuration says. */
const LOCKED: readonly unknown[] = ['locked', 'denied']

/** The gates of a host: `surfaces` are those on which accounts must be identified and have accepted the agreements. */
export function onboardingGates(surfaces: readonly Surface[], acceptances: AgreementAcceptances): Gates {
  return {
    async check(db, { accountId, surface }) {
      const status = await kycStatus(db, accountId)
      if (LOCKED.includes(status)) return closed(surface, 'account_locked', 'account locked')
      if (!surfaces.includes(surface)) return allow(undefined)
      if (status !== 'approved') return closed(surface, 'kyc_required', 'kyc required')
      const acceptedAt = await acceptances.acceptedAt(db, accountId)
      return acceptedAt === undefined
        ? closed(surface, 'agreements_required', 'agreements required')
        : allow(undefined)
    },
  }
}

async function kycStatus(db: SqlQueries, accountId: string): Promise<unknown> {
  const [row] = await rows(db, 'select kyc_status from gw_users where account_id = $1', [accountId])
  return row?.['kyc_status']
}

/** What to do next is in the message: clients of the partner surface look for its first words. */
function closed(surface: Surface, rule: HostRule, words: string): Verdict<never, HostDenial> {
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
