import type { Policy } from '@gatewright/scope-guard'
import type { Spend } from '@gatewright/scope-guard/internal'
import { memoryApprovals, memorySpends } from '@gatewright/scope-guard/memory'
import { bench, session } from '../issuer.ts'

export const NOW = Date.UTC(2026, 10, 29, 12)
export const HOUR = 3_600_000
export const rule = { operation: 'payments.create', allOf: [], spends: 'spend' } as const
export const approval = { requestId: 'key-1', effectId: 'effect-1' }
export const spend: Spend = {
  amountCents: 6000,
  currency: 'USD',
  payee: 'account:a',
  holdId: 'effect-1',
  approval,
}

/** A guard whose session has these policies, with functions that pay and ask as a host does. */
export async function payer(
  policies: readonly Policy[],
  more: { mostOpen?: number; lifetimeSeconds?: number } = {},
) {
  const store = memoryApprovals()
  const { guard, clock } = await bench({
    policies: async ids => ids.map(id => policies[Number(id.slice(1))]),
    spend: memorySpends(),
    approvals: { store, url: ({ id }) => `https://pay.test/approvals/${id}`, ...more },
  })
  clock.set(NOW)
  const access = async (changes: object = {}) => {
    const policyIds = policies.map((_, index) => `p${index}`)
    const holder = session(NOW, { policyIds, expiresAt: NOW + 30 * 24 * HOUR, ...changes })
    const checked = await guard.authorize(holder, { authorization: undefined }, rule)
    if (!checked.ok) throw new Error(checked.code)
    return checked.value
  }
  const own = await access()
  const pay = async (changes: Partial<Spend> = {}, by = own) => {
    const reserved = await guard.reserve(by, { ...spend, ...changes })
    return reserved.ok ? 'paid' : reserved
  }
  /** Asks for what `pay` denied, and returns the id of the approval. */
  const ask = async (changes: Partial<Spend> = {}, by = own): Promise<string> => {
    const denial = await guard.requestApproval(by, { ...spend, ...changes })
    return String(denial.details?.['approvalId'])
  }
  const used = async () => (await guard.caps(own.session)).map(cap => cap.used)
  const { approvals } = guard
  if (!approvals) throw new Error('the guard has the option approvals')
  return { guard, clock, store, access, own, pay, ask, used, approvals }
}
