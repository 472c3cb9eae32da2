import { parsePolicy } from '@gatewright/scope-guard'
import type { SessionPolicies } from '@gatewright/scope-guard/internal'
import type { GatewrightOptions } from './options.ts'

/** The id of the one policy for every account. Its counters belong to it. */
const EVERYBODY = 'everybody'

/** Makes the guard's source of policies. Throws a `TypeError` for a `policy` that is not one, or that is empty. */
export function policySource({
  policy,
  policies,
}: Pick<GatewrightOptions, 'policy' | 'policies'>): SessionPolicies | undefined {
  if (policies)
    return async session =>
      (await policies(session)).map((document, index) => ({ id: `policies[${index}]`, document }))
  if (policy === undefined || policy === 'none') return undefined
  const parsed = parsePolicy(policy)
  if (!parsed.ok) throw new TypeError(`gatewright: policy: ${parsed.message}`)
  if (Object.keys(parsed.value).length === 0)
    throw new TypeError(
      'gatewright: policy has no member, so it would limit nothing: give it a cap such as dailySpendCapCents, or leave out policy',
    )
  const everybody = [{ id: EVERYBODY, document: parsed.value }]
  return () => everybody
}
