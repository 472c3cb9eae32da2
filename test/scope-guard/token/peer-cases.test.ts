// The token cases of other libraries' own tests, with their verdicts and ours. Facts were taken, no code: jose (afbc664), jsonwebtoken
// (bc28861), access-token-jwt and oauth2-bearer of express-oauth2-jwt-bearer (8701dab). All rows were run once with jose 6.2.18,
// jsonwebtoken 9.0.3 and express-oauth2-jwt-bearer 1.10.0. A row whose verdicts differ says why.
import { createHmac, sign as signBytes, type KeyObject } from 'node:crypto'
import { localKeys } from '@gatewright/scope-guard'
import t from 'tap'
import { AUDIENCE, bench, claims, ISSUER, session, signingKey } from '../issuer.ts'

const key = await signingKey('ES256', 'es')
const now = 1_800_000_000
const HOUR = 3600

type Verdict = 'accepted' | 'denied'
interface Case {
  readonly peer: string
  readonly theirs: Verdict
  /** `accepted`, or the reason or code of the denial. */
  readonly ours: string
  readonly header?: object
  readonly claims?: object
  /** Makes the signature of a signing input. Default: a valid one. */
  readonly sign?: (input: string) => Buffer
  readonly why?: string
}

const JOSE = 'jose'
const JSONWEBTOKEN = 'jsonwebtoken'
const AUTH0 = 'access-token-jwt'

const privateKey = key.privateKey as unknown as KeyObject
const valid = async (input: string): Promise<Buffer> =>
  Buffer.from(
    await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey as never, Buffer.from(input)),
  )

const CASES: Readonly<Record<string, Case>> = {
  'a valid token': { peer: JOSE, theirs: 'accepted', ours: 'accepted' },
  'typ application/at+jwt': {
    peer: JOSE,
    theirs: 'accepted',
    ours: 'accepted',
    header: { typ: 'application/at+jwt' },
  },
  'typ in upper case': { peer: AUTH0, theirs: 'accepted', ours: 'accepted', header: { typ: 'AT+JWT' } },
  'typ JWT, strict': { peer: AUTH0, theirs: 'denied', ours: 'wrong typ', header: { typ: 'JWT' } },
  'no typ, strict': { peer: AUTH0, theirs: 'denied', ours: 'wrong typ', header: { typ: undefined } },
  'alg none': {
    peer: AUTH0,
    theirs: 'denied',
    ours: 'the algorithm does not match the key',
    header: { alg: 'none' },
  },
  'HMAC with the public key as the secret': {
    peer: JSONWEBTOKEN,
    theirs: 'denied',
    ours: 'the algorithm does not match the key',
    header: { alg: 'HS256' },
    sign: input => createHmac('sha256', JSON.stringify(key.jwk)).update(input).digest(),
  },
  'an unknown critical header': {
    peer: JOSE,
    theirs: 'denied',
    ours: 'crit header',
    header: { crit: ['exp'], exp: 1 },
  },
  'an unencoded payload (b64 with crit)': {
    peer: JOSE,
    theirs: 'denied',
    ours: 'crit header',
    header: { b64: false, crit: ['b64'] },
  },
  'b64 false without crit is ignored': {
    peer: JOSE,
    theirs: 'accepted',
    ours: 'accepted',
    header: { b64: false },
  },
  'no kid, and one key': { peer: JOSE, theirs: 'accepted', ours: 'accepted', header: { kid: undefined } },
  'a kid that the set lacks': { peer: JOSE, theirs: 'denied', ours: 'unknown key', header: { kid: 'x' } },
  'a key in the header': {
    peer: JOSE,
    theirs: 'accepted',
    ours: 'jwk header',
    header: { jwk: key.jwk },
    why: 'RFC 8725 section 3.10: what names its own key is denied, not ignored',
  },
  'an empty signature': {
    peer: JSONWEBTOKEN,
    theirs: 'denied',
    ours: 'not a canonical compact JWS',
    sign: () => Buffer.alloc(0),
  },
  'a signature of zeros (CVE-2022-21449)': {
    peer: JOSE,
    theirs: 'denied',
    ours: 'invalid signature',
    sign: () => Buffer.alloc(64),
  },
  'a signature that is one byte short': {
    peer: JOSE,
    theirs: 'denied',
    ours: 'invalid signature',
    sign: () => Buffer.alloc(63, 1),
  },
  'an ECDSA signature as DER': {
    peer: JOSE,
    theirs: 'denied',
    ours: 'invalid signature',
    sign: input => signBytes('sha256', Buffer.from(input), privateKey),
  },
  'another issuer': {
    peer: AUTH0,
    theirs: 'denied',
    ours: 'wrong issuer',
    claims: { iss: 'https://x.test' },
  },
  'no issuer': { peer: JSONWEBTOKEN, theirs: 'denied', ours: 'wrong issuer', claims: { iss: undefined } },
  'the issuer in a list': { peer: JOSE, theirs: 'denied', ours: 'wrong issuer', claims: { iss: [ISSUER] } },
  'the audience in a list': {
    peer: JSONWEBTOKEN,
    theirs: 'accepted',
    ours: 'accepted',
    claims: { aud: ['urn:foo', AUDIENCE] },
  },
  'another audience': { peer: AUTH0, theirs: 'denied', ours: 'wrong audience', claims: { aud: 'urn:foo' } },
  'no audience': { peer: JSONWEBTOKEN, theirs: 'denied', ours: 'wrong audience', claims: { aud: undefined } },
  'an empty list of audiences': { peer: JOSE, theirs: 'denied', ours: 'wrong audience', claims: { aud: [] } },
  'exp at this second': { peer: JOSE, theirs: 'denied', ours: 'session_expired', claims: { exp: now } },
  'exp within a tolerance of 5 s': {
    peer: AUTH0,
    theirs: 'accepted',
    ours: 'session_expired',
    claims: { exp: now - 4 },
    why: 'a tolerance never makes a token live longer than it says (docs/401.md)',
  },
  'exp as a text': {
    peer: JSONWEBTOKEN,
    theirs: 'denied',
    ours: 'no exp',
    claims: { exp: String(now + HOUR) },
  },
  'no exp, strict': { peer: AUTH0, theirs: 'denied', ours: 'no exp', claims: { exp: undefined } },
  'no exp': {
    peer: JSONWEBTOKEN,
    theirs: 'accepted',
    ours: 'no exp',
    claims: { exp: undefined },
    why: 'RFC 9068 section 2.2: exp is required',
  },
  'nbf in an hour': { peer: JOSE, theirs: 'denied', ours: 'not valid yet', claims: { nbf: now + HOUR } },
  'nbf within a tolerance of 5 s': {
    peer: JOSE,
    theirs: 'accepted',
    ours: 'accepted',
    claims: { nbf: now + 4 },
  },
  'nbf as a text': { peer: JOSE, theirs: 'denied', ours: 'nbf must be a number', claims: { nbf: 'now' } },
  'no iat, strict': { peer: AUTH0, theirs: 'denied', ours: 'no iat', claims: { iat: undefined } },
  'iat in an hour': {
    peer: JSONWEBTOKEN,
    theirs: 'accepted',
    ours: 'issued in the future',
    claims: { iat: now + HOUR, exp: now + 2 * HOUR },
    why: 'jose denies it with maxTokenAge; the age of a token is always looked at here',
  },
  'no sub, strict': {
    peer: AUTH0,
    theirs: 'denied',
    ours: 'claims do not describe a session',
    claims: { sub: undefined },
  },
  'no jti': {
    peer: JSONWEBTOKEN,
    theirs: 'accepted',
    ours: 'claims do not describe a session',
    claims: { jti: undefined },
    why: 'RFC 9068 section 2.2: jti is required; presets of providers without it read another claim',
  },
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

t.test('each token case of a peer has its verdict, or says why not', async t => {
  const good = { ...claims(session(now * 1000)), iat: now, exp: now + HOUR }
  for (const [title, row] of Object.entries(CASES)) {
    const { guard, clock } = await bench({ keys: localKeys({ keys: [key.jwk] }) })
    clock.advance(now * 1000 - clock.now())
    const head = { alg: 'ES256', typ: 'at+jwt', kid: 'es', ...row.header }
    const input = `${encode(head)}.${encode({ ...good, ...row.claims })}`
    const signature = row.sign ? row.sign(input) : await valid(input)
    const authorization = `Bearer ${input}.${signature.toString('base64url')}`
    const verdict = await guard.check({ authorization }, { operation: 'cards.list', allOf: ['cards.read'] })
    t.equal(verdict.ok ? 'accepted' : (verdict.reason ?? verdict.code), row.ours, `${row.peer}: ${title}`)
    t.equal(
      (row.ours === 'accepted' ? 'accepted' : 'denied') !== row.theirs,
      row.why !== undefined,
      `${title}: why`,
    )
  }
})
