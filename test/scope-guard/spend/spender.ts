import type { Access, SpendHold, GuardOptions } from '@gatewright/scope-guard'
import type { Rule } from '@gatewright/kernel'
import { bench, type Bench } from '../issuer.ts'

export const WITHDRAWAL = {
  operation: 'withdrawals.create',
  allOf: [],
  spends: 'withdrawal',
} as const satisfies Rule

/** A guard with one policy, and a session that passed its `check` for a withdrawal. */
export interface Spender extends Bench {
  readonly access: Access
  reserve(amountCents: number, currency?: string, holdId?: string): ReturnType<Bench['guard']['reserve']>
  /** Reserves, and throws if that is denied. */
  hold(amountCents: number, currency?: string): Promise<SpendHold>
}

/** Passes `check` under one policy and returns the guard with what it takes to spend. */
export async function spender(policy: unknown, options: Partial<GuardOptions> = {}): Promise<Spender> {
  const made = await bench({ policies: async () => [policy], ...options })
  const authorization = await made.bearer({ policyIds: ['p'] })
  const verdict = await made.guard.check({ authorization }, WITHDRAWAL)
  if (!verdict.ok) throw new Error(`denied: ${verdict.code}`)
  const access = verdict.value
  const reserve: Spender['reserve'] = (amountCents, currency = 'USD', holdId) =>
    made.guard.reserve(access, { amountCents, currency, ...(holdId ? { holdId } : {}) })
  const hold: Spender['hold'] = async (amountCents, currency) => {
    const reserved = await reserve(amountCents, currency)
    if (!reserved.ok) throw new Error(`denied: ${reserved.code}`)
    return reserved.value
  }
  return { ...made, access, reserve, hold }
}
