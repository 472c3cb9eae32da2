import type { EpochMs } from '@gatewright/kernel'
import type { GuardReason } from '../codes.ts'
import type { Claims, TokenRules } from './claims.ts'

/** How many characters of one value, and how many values of a list, an explanation repeats. */
const MAX_VALUE = 80
const MAX_VALUES = 12

/**
 * Shows a value of an unverified token for the log: at most 80 characters of printable ASCII, so that it cannot forge lines or control
 * a terminal. Of a list at most 12 values.
 */
function shownValue(value: unknown): string {
  if (value === undefined) return 'none'
  if (Array.isArray(value)) {
    const more = value.length > MAX_VALUES ? ', ...' : ''
    return `[${value.slice(0, MAX_VALUES).map(shownValue).join(', ')}${more}]`
  }
  if (typeof value !== 'string')
    return typeof value === 'number' ? String(value) : `a value of type ${typeof value}`
  const text = value.slice(0, MAX_VALUE).replace(/[^\u0020-\u007e]/g, '?')
  return value.length > MAX_VALUE ? `${text}...` : text
}

const expected = (name: string, wanted: string, came: unknown): string =>
  `${name}: expected ${wanted}, token has ${shownValue(came)}`

const secondsAfter = (from: EpochMs, to: unknown): string => String(Math.round(Number(to) - from / 1000))

/** What a token says, as far as it was read, and what the guard compares it with. */
interface Compared {
  readonly rules: TokenRules
  readonly now: EpochMs
  readonly claims?: Claims
  readonly header?: Claims
  /** The algorithm of the key. */
  readonly algorithm?: string
}

/** What each reason compares. A reason that is not listed says all. */
const EXPLANATIONS: Partial<Record<GuardReason, (compared: Required<Compared>) => string>> = {
  'wrong issuer': ({ rules, claims }) => expected('issuer', rules.issuer, claims['iss']),
  'wrong audience': ({ rules: { audience, readSession }, claims }) =>
    expected(
      'audience',
      audience,
      claims['aud'] ?? (readSession.audienceClaim && claims[readSession.audienceClaim]),
    ),
  'wrong typ': ({ rules, header }) =>
    expected('typ', rules.types.map(type => type ?? 'none').join(' or '), header['typ']),
  'no kid': ({ rules, header }) =>
    header['kid'] === undefined
      ? `kid: the token names no key, and the keys of ${rules.issuer} are not exactly one for ${shownValue(header['alg'])}`
      : `kid: expected a text, token has ${shownValue(header['kid'])}`,
  'unknown key': ({ rules, header }) =>
    `kid: no key ${shownValue(header['kid'])} among the keys of ${rules.issuer}`,
  'the algorithm does not match the key': ({ header, algorithm }) =>
    expected('alg', algorithm, header['alg']),
  'issued in the future': ({ claims, now }) =>
    `iat: ${secondsAfter(now, claims['iat'])} s after the time of this machine`,
  'not valid yet': ({ claims, now }) =>
    `nbf: ${secondsAfter(now, claims['nbf'])} s after the time of this machine`,
  'claims do not describe a session': ({ claims }) =>
    `the token has the claims ${shownValue(Object.keys(claims))}`,
}

/**
 * Says what was expected of a token and what came, for the log of the operator: `audience: expected https://payments.example, token
 * has https://other`. It names claims that identify issuer, audience and key, never the token, an account or a scope. Undefined for a
 * reason that says all.
 */
export function explain(reason: GuardReason, compared: Compared): string | undefined {
  return EXPLANATIONS[reason]?.({ claims: {}, header: {}, algorithm: '', ...compared })
}
