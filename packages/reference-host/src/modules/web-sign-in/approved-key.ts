import { allow, type Verdict } from '@gatewright/kernel'
import type { ApprovedKey, SpendLimits } from '@gatewright/host/internal'
import { deny } from '../../product/denials.ts'

/** The rights that a command line names for its key. */
export type RequestedKey = Omit<ApprovedKey, 'lowerTo'>

/** The most bytes of a requested policy as JSON. A web token carries it, and headers have no room for more. */
const MAX_POLICY_BYTES = 4096
const AMOUNTS = ['maxAuthAmountCents', 'dailySpendCapCents'] as const

/** Denies a policy that a web token cannot carry: `invalid_request`, field `policy`. */
export function denyLongPolicy(policy: object | undefined): ReturnType<typeof deny> | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(policy ?? {}))
  if (bytes <= MAX_POLICY_BYTES) return undefined
  const most = `${MAX_POLICY_BYTES} bytes of JSON`
  return deny('invalid_request', `policy must be at most ${most} here, and is ${bytes}`, { field: 'policy' })
}

/** Returns what a sign-in binds: what was requested, and what the person lowered. Undefined if that is nothing. */
export function approvedKey(
  requested: RequestedKey,
  lowerTo: SpendLimits | undefined,
): ApprovedKey | undefined {
  const lowers = lowerTo !== undefined && Object.keys(lowerTo).length > 0
  const key = lowers ? { ...requested, lowerTo } : requested
  return Object.keys(key).length === 0 ? undefined : key
}

/**
 * Returns a policy whose amounts are at most those of the person; undefined if there is neither. The policy that comes in has
 * been checked.
 */
export function lowered(policy: object | undefined, lowerTo: SpendLimits | undefined): object | undefined {
  if (!lowerTo) return policy
  const amounts = AMOUNTS.flatMap(name => {
    const requested: SpendLimits | undefined = policy
    const both = [lowerTo[name], requested?.[name]].filter(cents => cents !== undefined)
    return both.length === 0 ? [] : [[name, Math.min(...both)] as const]
  })
  return { ...policy, ...Object.fromEntries(amounts) }
}

/** The rights that a request to create a key names. */
interface NamedRights {
  readonly label?: string | null | undefined
  readonly scopes?: readonly string[] | undefined
  readonly policy?: unknown
}

/**
 * Returns the rights of the key that a web token makes. What was approved cannot be named again: `invalid_request` with the field.
 * What was not requested at the start can be named now.
 */
export function rightsOfApproved(key: ApprovedKey, named: NamedRights): Verdict<NamedRights> {
  const twice = (['label', 'scopes', 'policy'] as const).find(
    name => key[name] !== undefined && named[name] !== undefined,
  )
  if (twice)
    return deny('invalid_request', `${twice} was approved with the sign-in: leave it out`, { field: twice })
  return allow({ ...named, ...key })
}
