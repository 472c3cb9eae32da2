import type { CanonicalFacts } from '@gatewright/http/internal'
import type { Clock, EpochMs } from '@gatewright/kernel'
import type { Guard } from '@gatewright/scope-guard'
import type { ApiKey } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'
import { component, textOrNull } from '@gatewright/host/schemas'
import { keySession, type OperationRules, type RecordedRequest } from '@gatewright/host/internal'

/** Schema of what would be decided now. */
export const DecidedNow = Type.Object(
  {
    allowed: Type.Boolean({ description: 'Whether the key may do it now' }),
    error: textOrNull('The code of the error that it would get'),
    rule: textOrNull('The policy rule that would block it'),
    message: textOrNull('Why not'),
  },
  component(
    'DecidedNow',
    'What scopes and policies of the key would decide now, from the address of the caller. Nothing is counted',
  ),
)

/**
 * Decides about a kept request again, with the present rights of its key and from the address of the caller: `Guard.simulate`. Where
 * a cap or the balance refused it, the amount is part of its details and is decided about, too. A key that was revoked or has expired is allowed
 * nothing. Undefined: the request used no session or key of the user surface. It changes no counter.
 */
export async function decideAgain(
  {
    guard,
    operationRules,
    clock,
  }: { readonly guard: Guard; readonly operationRules: OperationRules; readonly clock: Clock },
  { operation, details }: RecordedRequest,
  key: ApiKey,
  { address }: Pick<CanonicalFacts, 'address'>,
): Promise<Type.Static<typeof DecidedNow> | undefined> {
  const rule = operationRules.get(`user ${operation}`)
  if (!rule) return undefined
  const ended = endOf(key, clock.now())
  if (ended !== undefined)
    return { allowed: false, error: 'unauthorized', rule: null, message: `The key has ended: it ${ended}.` }
  const amountCents = rule.spends === undefined ? undefined : requestedCents(details)
  const payee = rule.spends === undefined ? undefined : requestedPayee(details)
  const spend =
    amountCents === undefined && payee === undefined
      ? undefined
      : { amountCents: amountCents ?? 0, currency: 'USD', ...(payee === undefined ? {} : { payee }) }
  const facts = { authorization: undefined, ...(address === '' ? {} : { address }) }
  const decided = await guard.simulate(keySession(key), facts, rule, spend)
  if (decided.ok) return { allowed: true, error: null, rule: null, message: null }
  const { code, message, details: found } = decided
  const blocking = found?.['rule']
  return { allowed: false, error: code, rule: typeof blocking === 'string' ? blocking : null, message }
}

/** Returns the amount that a cap or the balance refused, in US cents; undefined if the details have none. */
export function requestedCents(details: RecordedRequest['details']): number | undefined {
  const requested = details?.['unit'] === 'cents' ? details['requested'] : details?.['requestedCents']
  return typeof requested === 'number' ? requested : undefined
}

/** Returns the payee that a policy refused; undefined if the details have none. */
function requestedPayee(details: RecordedRequest['details']): string | readonly string[] | undefined {
  const payee = details?.['payee']
  return typeof payee === 'string' || Array.isArray(payee) ? payee : undefined
}

/** Says how a key has ended. At the instant at which it expires it has ended. Undefined: it is live. */
export function endOf(
  { revokedAt, expiresAt }: ApiKey,
  now: EpochMs,
): 'was revoked' | 'has expired' | undefined {
  if (revokedAt !== null) return 'was revoked'
  return expiresAt !== null && expiresAt <= now ? 'has expired' : undefined
}
