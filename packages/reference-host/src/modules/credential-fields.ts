import type { CanonicalFacts } from '@gatewright/http/internal'
import { allow, type Denial, type Session, type Verdict } from '@gatewright/kernel'
import { nearestName, shownName, type Surface } from '@gatewright/kernel/internal'
import type { Aliases } from '@gatewright/legacy-alias-router'
import { parsePolicy, type Policy } from '@gatewright/scope-guard'
import type { ApiKey } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'
import { idText, instant, nameText, text } from '@gatewright/host/schemas'
import { type OperationRules } from '@gatewright/host/internal'
import { grantedScopes, ignoredScopes } from './credential-schemas.ts'
import { deny } from '../product/denials.ts'
import { partnerScopes, userScopes } from '../product/scopes.ts'
import { checkPayees } from '../product/payees.ts'

/** Lifetime of a session in seconds. Default of the issuer: 900. */
export const ttlSeconds: Type.TInteger = Type.Integer({
  minimum: 60,
  maximum: 86_400,
  description: 'How long the session works. Default: 900',
})

/** Scope names in a request. `parseRequestedScopes` checks them. */
export const requestedScopes: Type.TArray<Type.TString> = Type.Array(idText(), {
  description: 'Names of scopes. Retired ones are ignored',
})

/** Schema of the label of a key in a request. The issuer checks which characters it has. */
export const keyLabel: Type.TUnion<[Type.TString, Type.TNull]> = Type.Union([nameText(1, 64), Type.Null()], {
  description:
    'What people call the key, in one line. Lists, the audit log and notices show it: no secret. Null: no label',
})

/**
 * Parses requested scopes. Legacy names are translated, retired ones are ignored, and an unknown one is
 * denied as `invalid_request`. Without a request, all scopes of the surface are granted.
 */
export function parseRequestedScopes(
  surface: Surface,
  requested: readonly string[] | undefined,
  field: string,
  { aliases, facts }: { readonly aliases: Aliases; readonly facts: CanonicalFacts },
): Verdict<{ scopes: string[]; ignored: string[] }> {
  const catalogue = surface === 'user' ? userScopes : partnerScopes
  if (requested === undefined) return allow({ scopes: [...catalogue.names], ignored: [] })
  const read = aliases.readScopes(surface, requested)
  facts.oldNames.push(...(read.ok ? read.value.used : read.used))
  if (!read.ok) return { ...read, field }
  const { scopes, ignored } = read.value
  const unknown = scopes.find(name => !catalogue.has(name))
  if (unknown === undefined) return allow({ scopes, ignored })
  const near = nearestName(catalogue.names)(unknown)
  const meant = near === undefined ? '' : `; did you mean ${near}?`
  const message = `${field} has an unknown scope: ${JSON.stringify(shownName(unknown))}${meant}`
  return deny('invalid_request', message, { field })
}

/**
 * Checks a policy object before it is stored: its members and the bounds of a single policy. The issuer checks the whole chain.
 * Returns an empty object when the request has none.
 */
export function checkPolicy(
  policy: unknown,
  field: string,
  rules?: OperationRules,
): Verdict<{ policy?: object }> {
  if (policy === undefined || policy === null) return allow({})
  const parsed = parsePolicy(policy)
  if (parsed.ok) {
    const payees = checkPayees(parsed.value, field)
    if (!payees.ok) return payees
    return (rules && denyMisspelt(parsed.value, field, rules)) ?? allow({ policy })
  }
  // `policy` names the whole value, unless the value has a member of that name.
  const isWhole = parsed.field === 'policy' && !Object.hasOwn(Object(policy) as object, 'policy')
  return { ...parsed, field: isWhole ? field : `${field}.${parsed.field}` }
}

/** The operation of payments by card, which no request names. */
const PAID_BY_CARD = 'cards.authorize'

/**
 * Denies a policy that names an operation which the host does not have, but nearly: a misspelt name in `denyOperations` would deny
 * nothing. Names that are near to none are accepted, because another host on the database may serve them.
 */
function denyMisspelt(
  { allowOperations = [], denyOperations = [], limits = [] }: Policy,
  field: string,
  rules: OperationRules,
): Denial | undefined {
  const ids = [...new Set([...rules.keys()].map(name => name.slice(name.indexOf(' ') + 1)))]
  const known = [...ids, PAID_BY_CARD]
  const tags = [...new Set(known.map(id => `${id.slice(0, id.indexOf('.'))}.*`))]
  const lists: readonly (readonly [name: string, operations: readonly string[]])[] = [
    ['allowOperations', allowOperations],
    ['denyOperations', denyOperations],
    ...limits.map(({ operations }, index) => [`limits[${index}].operations`, operations] as const),
  ]
  const [nearestTag, nearestOperation] = [nearestName(tags), nearestName(known)]
  for (const [name, operations] of lists) {
    for (const unknown of new Set(operations)) {
      if (known.includes(unknown) || tags.includes(unknown)) continue
      const near = unknown.endsWith('.*') ? nearestTag(unknown) : nearestOperation(unknown)
      if (near === undefined) continue
      const message = `${field}.${name} has an unknown operation: ${JSON.stringify(shownName(unknown))}; did you mean ${near}?`
      return deny('invalid_request', message, { field: `${field}.${name}` })
    }
  }
  return undefined
}

/** Schema of `newKeyData`, with the legacy names of its members. */
export const newKeyFields = {
  userApiKey: text('The key: a secret that is shown only once'),
  userKeyId: text('The id of the key'),
  consumerApiKey: Type.String({ deprecated: true, description: 'The old name of `userApiKey`' }),
  consumerKeyId: Type.String({ deprecated: true, description: 'The old name of `userKeyId`' }),
  keyPrefix: text('The first characters of the key, to tell keys apart'),
} as const

/** Schema of `newSessionData`, with the retired scopes that the request named. */
export const newSessionFields = {
  sessionToken: text('The bearer token: a secret'),
  sessionId: text('The id of the session'),
  expiresAt: instant('When the token stops working'),
  scopes: grantedScopes,
  ignoredScopes,
} as const

/** Makes the response data of a new key, including its secret text. No other response contains that text. */
export function newKeyData({ key, text }: { key: ApiKey; text: string }): Record<string, unknown> {
  return { userApiKey: text, userKeyId: key.id, keyPrefix: key.prefix }
}

/** Makes the response data of a new session, including its token. */
export function newSessionData({
  token,
  session,
}: {
  token: string
  session: Session
}): Record<string, unknown> {
  return {
    sessionToken: token,
    sessionId: session.sessionId,
    expiresAt: new Date(session.expiresAt).toISOString(),
    scopes: session.scopes,
  }
}
