// Compares the guard's verdict on random tokens with those of jose and oauth4webapi.
import { createGuard, localKeys } from '@gatewright/scope-guard'
import fc from 'fast-check'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { clockTolerance, customFetch, validateJwtAccessToken, type AuthorizationServer } from 'oauth4webapi'
import type { Test } from 'tap'
import { AUDIENCE, ISSUER } from '../issuer.ts'
import { JWKS, recipe, tokenOf } from './random-tokens.ts'

const NOW_SECONDS = 1_800_000_000
const TOLERANCE_SECONDS = 5
const ALGORITHMS = ['EdDSA', 'Ed25519', 'ES256', 'ES384', 'ES512', 'RS256', 'PS256']

/** A token as its JSON says, without any check. */
interface Read {
  readonly token: string
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  /** The milliseconds of the clock. */
  readonly now: number
}

/** Why a verdict may differ: the rule with its source, and whether it is about this token. */
interface Reason {
  readonly source: string
  readonly applies: (read: Read) => boolean
}

const seconds = (value: unknown): number => value as number
const isBad = (text: unknown): boolean => typeof text !== 'string' || text === ''
const isUtf8 = (segment: string): boolean =>
  Buffer.from(segment, 'base64url').equals(Buffer.from(Buffer.from(segment, 'base64url').toString()))
const ownKey = (name: string): Reason => ({
  source: 'RFC 8725 section 3.10: a key or its address in a token is not trusted; denied rather than ignored',
  applies: ({ header }) => Object.hasOwn(header, name),
})

/** Where the guard denies what both libraries accept, by the reason of its denial. */
const STRICTER: Readonly<Record<string, Reason>> = {
  session_expired: {
    source: 'docs/401.md: the tolerance never extends exp, of which a fraction of a second is rounded down',
    applies: ({ claims, now }) => Math.floor(seconds(claims['exp'])) * 1000 <= now,
  },
  'malformed credential': {
    source: 'RFC 6750 section 2.1: a token has no white space and few signs; 400, since no token was sent',
    applies: ({ token }) => !/^[\w.~+/-]+=*$/.test(token),
  },
  'token too long': { source: 'option maxTokenBytes', applies: ({ token }) => token.length > 4096 },
  'not a canonical compact JWS': {
    source: 'RFC 7515 section 2 (no padding or white space) and RFC 4648 section 3.5 (spare bits are zero)',
    applies: ({ token }) =>
      token.split('.').some(part => Buffer.from(part, 'base64url').toString('base64url') !== part),
  },
  'no kid': {
    source:
      'RFC 7515 section 4.1.4: a kid is a text; without one, the set must have one key for the algorithm',
    applies: ({ header }) => Object.hasOwn(header, 'kid') && isBad(header['kid']),
  },
  'crit header': {
    source: 'RFC 7515 section 4.1.11: no extension is understood',
    applies: ({ header }) => Object.hasOwn(header, 'crit'),
  },
  'jwk header': ownKey('jwk'),
  'jku header': ownKey('jku'),
  'x5u header': ownKey('x5u'),
  'x5c header': ownKey('x5c'),
  'claims are not a JSON object': {
    source: 'RFC 8259 section 8.1: JSON is UTF-8',
    applies: ({ token }) => !isUtf8(token.split('.')[1] as string),
  },
  'issued in the future': {
    source: 'docs/401.md: iat after now and the tolerance',
    applies: ({ claims, now }) => seconds(claims['iat']) * 1000 > now + TOLERANCE_SECONDS * 1000,
  },
  'the algorithm does not match the key': {
    source: 'RFC 8725 section 3.1: one algorithm for a key; option rsaAlgorithm for an RSA key without alg',
    applies: ({ header }) => header['kid'] === 'rsa-unnamed' && header['alg'] !== 'RS256',
  },
  'claims do not describe a session': {
    source: 'RFC 9068 section 2.2 (sub, client_id, jti, scope), numbers, and the claims of session-issuer',
    applies: ({ claims }) =>
      ['sub', 'client_id', 'jti'].some(name => isBad(claims[name])) ||
      ['iat', 'exp'].some(
        name => typeof claims[name] !== 'number' || !Number.isSafeInteger(Math.floor(claims[name])),
      ) ||
      !isScope(claims['scope']) ||
      Object.keys(claims).some(name => name.startsWith('gw_')),
  },
  'an id with a NUL or a lone surrogate': {
    source: 'docs/decisions/0032: ids are texts that every store can hold',
    applies: ({ claims }) =>
      ['sub', 'client_id', 'jti'].some(name => /\0|\p{Cs}/u.test(String(claims[name]))),
  },
  'the token is bound in a way that is not supported': {
    source: 'RFC 7800 section 3.1: a cnf without jkt binds the token to what the guard cannot check',
    applies: ({ claims }) => Object.hasOwn(claims, 'cnf'),
  },
}

/** RFC 9068 section 2.2.3 and a list of texts, as some issuers write it. */
const isScope = (scope: unknown): boolean =>
  scope === undefined ||
  typeof scope === 'string' ||
  (Array.isArray(scope) && scope.every(each => typeof each === 'string'))

/** Where the guard accepts what a library denies, with the message of that denial. */
const LOOSER: readonly (Reason & { readonly denial: RegExp })[] = [
  {
    source:
      'RFC 6750 section 2.1: one or more spaces follow the scheme; the libraries get them with the token',
    denial: /./,
    applies: ({ token }) => token.startsWith(' '),
  },
  {
    source:
      'option rsaAlgorithm: an RSA key without alg has one algorithm, so that it is not a second key for PS256',
    denial: /^(multiple matching keys|error when selecting a JWT verification key)/,
    applies: ({ header }) => !Object.hasOwn(header, 'kid') && /^[PR]S/.test(String(header['alg'])),
  },
  {
    source:
      'RFC 9864 section 2.2: Ed25519 is the new name of EdDSA with this curve; the libraries compare names',
    denial: /^(no applicable key found|error when selecting a JWT verification key)/,
    applies: ({ header }) =>
      [
        ['ed', 'Ed25519'],
        ['ed-9864', 'EdDSA'],
      ].some(([kid, alg]) => kid === header['kid'] && alg === header['alg']),
  },
  {
    source:
      'RFC 7519 section 2: a NumericDate may have a fraction; the libraries round the clock down to a second',
    denial: /"nbf"/,
    applies: ({ claims, now }) =>
      seconds(claims['nbf']) * 1000 <= now + TOLERANCE_SECONDS * 1000 &&
      seconds(claims['nbf']) > Math.floor(now / 1000) + TOLERANCE_SECONDS,
  },
]

function decoded(segment: string | undefined): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(new TextDecoder().decode(Buffer.from(segment ?? '', 'base64url'))) ?? {}) as Record<
      string,
      unknown
    >
  } catch {
    return {}
  }
}

/** What each comparison found, by the guard's reason or `accepted`. */
export type Tally = Map<string, number>

/**
 * Compares verdicts on random tokens. The guard accepts only what both libraries accept, except for `LOOSER`; what both accept it
 * denies only for one of `STRICTER`.
 */
export async function compareVerdicts(t: Test, numRuns: number): Promise<Tally> {
  let now = NOW_SECONDS * 1000
  // oauth4webapi has no option for the clock.
  t.intercept(Date, 'now', { value: () => now })
  const guard = createGuard({
    issuer: ISSUER,
    audience: AUDIENCE,
    keys: localKeys(JWKS),
    clock: { now: () => now },
    clockToleranceSeconds: TOLERANCE_SECONDS,
    policies: async ids => ids.map(() => ({})),
    sessionPolicies: () => [],
    limits: [],
    failedCredentials: 'off',
  })
  const rule = { operation: 'cards.list', allOf: [] }
  const keySet = createLocalJWKSet(structuredClone(JWKS))
  const server: AuthorizationServer = { issuer: ISSUER, jwks_uri: `${ISSUER}/jwks` }
  const byJose = async (token: string): Promise<unknown> =>
    jwtVerify(token, keySet, {
      issuer: ISSUER,
      audience: AUDIENCE,
      typ: 'at+jwt',
      algorithms: ALGORITHMS,
      requiredClaims: ['exp', 'iat', 'sub', 'jti', 'client_id'],
      clockTolerance: TOLERANCE_SECONDS,
      currentDate: new Date(now),
    })
  const byOauth = async (token: string): Promise<unknown> => {
    const request = new Request(AUDIENCE, { headers: { authorization: `Bearer ${token}` } })
    return validateJwtAccessToken(server, request, AUDIENCE, {
      signingAlgorithms: ALGORITHMS,
      [clockTolerance]: TOLERANCE_SECONDS,
      [customFetch]: async () => Response.json(JWKS),
    })
  }
  const failureOf = async (verdict: Promise<unknown>): Promise<string | undefined> =>
    verdict.then(
      () => undefined,
      (error: Error) => error.message,
    )
  const tally: Tally = new Map()
  // The guard reuses what it has found out about a token, also when the clock is set back, so each token is compared once.
  const compared = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      recipe(NOW_SECONDS, TOLERANCE_SECONDS),
      fc.constantFrom(0, 1, 500, 999),
      async (ingredients, ms) => {
        now = NOW_SECONDS * 1000 + ms
        const token = tokenOf(ingredients)
        if (compared.has(token)) return
        compared.add(token)
        const [header, claims] = token.split('.').map(decoded)
        const read: Read = { token, header: header ?? {}, claims: claims ?? {}, now }
        const verdict = await guard.check({ authorization: `Bearer ${token}` }, rule)
        const denials = [await failureOf(byJose(token)), await failureOf(byOauth(token))]
        const theirs = denials.filter(denial => denial !== undefined)
        const reason = verdict.ok ? 'accepted' : (verdict.reason ?? verdict.code)
        const name = verdict.ok === (theirs.length === 0) ? reason : `${reason}, unlike the libraries`
        tally.set(name, (tally.get(name) ?? 0) + 1)
        const unlisted = theirs.filter(
          message => !LOOSER.some(({ denial, applies }) => denial.test(message) && applies(read)),
        )
        if (verdict.ok && unlisted.length > 0)
          throw new Error(`accepted ${token}, but the libraries say: ${unlisted.join('; ')}`)
        if (verdict.ok && verdict.value.session.accountId !== read.claims['sub'])
          throw new Error(`read another account than ${String(read.claims['sub'])}`)
        if (!verdict.ok && theirs.length === 0 && STRICTER[reason]?.applies(read) !== true)
          throw new Error(`denied ${token} by "${reason}", but both libraries accept it`)
      },
    ),
    { numRuns },
  )
  return tally
}
