import type { Policy } from '@gatewright/scope-guard'

/** One call as the naive interpreter sees it. */
export interface Call {
  readonly operation: string
  readonly now: number
  readonly address: string | undefined
  readonly cardSecrets: boolean
  readonly kind: 'spend' | 'withdrawal' | undefined
  readonly cents: number
}

/** Everything that happened so far: the naive way keeps all of it and adds up from the start each time. */
export type History = (Call & { readonly chain: readonly string[] })[]

const named = (patterns: readonly string[], operation: string): boolean =>
  patterns.some(pattern =>
    pattern.endsWith('.*') ? operation.startsWith(pattern.slice(0, -1)) : pattern === operation,
  )

/** IPv4 only, by text and arithmetic: `a.b.c.d/bits`. */
function inBlock(block: string, address: string): boolean {
  const [base = '', bits = '32'] = block.split('/')
  const number = (text: string): number => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const size = 2 ** (32 - Number(bits))
  return Math.floor(number(base) / size) === Math.floor(number(address) / size)
}

const sameWindow = (window: string, a: number, b: number): boolean => {
  const cut = window === 'day' ? 10 : window === 'month' ? 7 : 0
  return new Date(a).toISOString().slice(0, cut) === new Date(b).toISOString().slice(0, cut)
}

/**
 * Decides a call under a chain by reading the policies member by member, straight from the contract's words:
 * no compilation, no counters, no merging. Deliberately slow and plain.
 */
export function naiveAllows(chain: Record<string, Policy>, call: Call, history: History): boolean {
  for (const [id, policy] of Object.entries(chain)) {
    const past = history.filter(({ chain: ids }) => ids.includes(id))
    const spent = (counts: (call: Call) => boolean, window: string): number =>
      past
        .filter(one => counts(one) && sameWindow(window, one.now, call.now))
        .reduce((sum, one) => sum + one.cents, 0)
    if (policy.denyOperations && named(policy.denyOperations, call.operation)) return false
    if (policy.allowOperations && !named(policy.allowOperations, call.operation)) return false
    if (policy.notBefore && call.now < Date.parse(policy.notBefore)) return false
    if (policy.notAfter && call.now >= Date.parse(policy.notAfter)) return false
    if (policy.allowedIps) {
      const { address } = call
      if (address === undefined || !policy.allowedIps.some(block => inBlock(block, address))) return false
    }
    if (policy.allowCardSecrets === false && call.cardSecrets) return false
    for (const limit of policy.limits ?? []) {
      if (!named(limit.operations, call.operation)) continue
      const within = (one: Call): boolean => named(limit.operations, one.operation)
      if (limit.maxCount !== undefined) {
        const calls = past.filter(one => within(one) && sameWindow(limit.window, one.now, call.now))
        if (calls.length + 1 > limit.maxCount) return false
      } else if (call.kind !== undefined) {
        const before =
          limit.window === 'operation' ? 0 : spent(one => one.kind !== undefined && within(one), limit.window)
        if (before + call.cents > (limit.maxCents as number)) return false
      }
    }
    if (call.kind === undefined) continue
    if (policy.maxAuthAmountCents !== undefined && call.cents > policy.maxAuthAmountCents) return false
    const daily = policy.dailySpendCapCents
    if (daily !== undefined && spent(one => one.kind !== undefined, 'day') + call.cents > daily) return false
    const withdrawals = policy.dailyWithdrawalCapCents
    if (withdrawals !== undefined && call.kind === 'withdrawal') {
      if (spent(one => one.kind === 'withdrawal', 'day') + call.cents > withdrawals) return false
    }
  }
  return true
}
