// Random tokens: a valid one, changed at up to three places.
import {
  createHmac,
  createPublicKey,
  constants,
  generateKeyPairSync,
  sign as signBytes,
  type KeyObject,
} from 'node:crypto'
import fc from 'fast-check'
import type { JWK } from 'jose'
import { AUDIENCE, ISSUER } from '../issuer.ts'

/** A key pair with its algorithm; the key set of the issuer has `jwk` if `isPublished`. */
interface Signer {
  readonly privateKey: KeyObject
  readonly alg: string
  readonly jwk: JWK
  readonly isPublished: boolean
}

const CURVES: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }

function signer(alg: string, kid: string, { named = true, isPublished = true, use = 'sig' } = {}): Signer {
  const namedCurve = CURVES[alg]
  const privateKey = namedCurve
    ? generateKeyPairSync('ec', { namedCurve }).privateKey
    : alg.startsWith('Ed')
      ? generateKeyPairSync('ed25519').privateKey
      : generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const exported = createPublicKey(privateKey).export({ format: 'jwk' }) as JWK
  const jwk: JWK = { ...exported, kid, use }
  if (named) jwk.alg = alg
  return { privateKey, alg, jwk, isPublished }
}

/** The keys of the issuer, one for encryption among them, and keys of an attacker with the same ids. */
const SIGNERS: readonly Signer[] = [
  signer('EdDSA', 'ed'),
  signer('Ed25519', 'ed-9864'),
  signer('EdDSA', 'ed-unnamed', { named: false }),
  signer('ES256', 'p256'),
  signer('ES384', 'p384', { named: false }),
  signer('ES512', 'p521'),
  signer('RS256', 'rs256'),
  signer('PS256', 'ps256'),
  signer('RS256', 'rsa-unnamed', { named: false }),
  signer('ES256', 'encryption', { use: 'enc' }),
  signer('EdDSA', 'ed', { isPublished: false }),
  signer('ES256', 'p256', { isPublished: false }),
]
export const JWKS = { keys: SIGNERS.filter(({ isPublished }) => isPublished).map(({ jwk }) => jwk) }

/** A member of a JSON object as its name and the text of its value, so that values may be ones that no JSON writer makes. */
type Member = readonly [name: string, value: string]

/** A change of a valid token. A member with an undefined value is removed; an added one may repeat a name. */
type Change =
  | { readonly part: 'header' | 'claims'; readonly name: string; readonly value: string | undefined }
  | { readonly part: 'header' | 'claims'; readonly added: Member }
  | { readonly part: 'text'; readonly edit: string; readonly at: number }
  | { readonly part: 'signature'; readonly forged: string }

/** What a token is made of. Times are in seconds from the second of `now`. */
export interface Recipe {
  readonly signer: number
  readonly claims: readonly Member[]
  readonly changes: readonly Change[]
}

const json = (value: unknown): string => JSON.stringify(value)
const oneOf = (values: readonly unknown[]): fc.Arbitrary<string> => fc.constantFrom(...values.map(json))

/** Times around the bounds of the clock, as whole seconds, with fractions, and as values that are no sensible time. */
function time(nowSeconds: number, toleranceSeconds: number): fc.Arbitrary<string> {
  const offsets = [0, toleranceSeconds, -toleranceSeconds].flatMap(bound =>
    [-1, -0.5, -0.001, 0, 0.001, 0.5, 1].map(more => bound + more),
  )
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...offsets).map(offset => json(nowSeconds + offset)) },
    { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map(json) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        '0',
        '-0',
        '-1',
        '1e400',
        '-1e400',
        '1e308',
        '9007199254740993',
        '8640000000001',
        '1e-400',
        'null',
        'true',
        '""',
        '[]',
        '{}',
        json(String(nowSeconds)),
        `[${nowSeconds}]`,
      ),
    },
  )
}

const audience = oneOf([
  [AUDIENCE],
  ['other', AUDIENCE],
  [AUDIENCE, 7, null],
  [[AUDIENCE]],
  [],
  'other',
  `${AUDIENCE}/`,
  '',
  AUDIENCE.toUpperCase(),
  `${AUDIENCE} other`,
  null,
  7,
  { 0: AUDIENCE },
  true,
])
const text = fc.oneof(
  oneOf([
    '',
    'other',
    'null',
    0,
    7,
    null,
    true,
    [],
    ['a'],
    {},
    'a\0b',
    '\ud800',
    'é',
    '😀',
    'x'.repeat(5000),
  ]),
  fc.string({ maxLength: 12 }).map(json),
)
const NAMES = 'none None HS256 RS256 PS256 RS384 ES256 ES384 ES512 EdDSA Ed25519 eddsa es256 ML-DSA-44'
const algorithm = oneOf([...NAMES.split(' '), '', 7, null, ['EdDSA']])
const type = oneOf([
  'JWT',
  'AT+JWT',
  'application/at+jwt',
  'APPLICATION/AT+jwt',
  'application/application/at+jwt',
  'at+jwt ',
  '/at+jwt',
  'text/at+jwt',
  '',
  null,
  7,
  ['at+jwt'],
])
const keyId = oneOf([...SIGNERS.map(({ jwk }) => jwk.kid), 'unknown', '', null, 7, ['ed'], 'ED'])
const BROUGHT_KEY = json(SIGNERS.at(-1)?.jwk)
const EXTRA_HEADERS: readonly Member[] = [
  ['crit', '["exp"]'],
  ['crit', '[]'],
  ['crit', '["b64"]'],
  ['crit', 'null'],
  ['crit', '"b64"'],
  ['jwk', 'null'],
  ['jwk', BROUGHT_KEY],
  ['jku', 'null'],
  ['jku', '"https://evil.test/jwks"'],
  ['x5u', 'null'],
  ['x5c', 'null'],
  ['x5t', '"AAAA"'],
  ['b64', 'false'],
  ['zip', '"DEF"'],
  ['cty', '"JWT"'],
  ['enc', '"A128GCM"'],
  ['__proto__', '{"kid":"ed","typ":"at+jwt"}'],
  ['exp', '1'],
]
const EXTRA_CLAIMS: readonly Member[] = [
  ['cnf', '{}'],
  ['cnf', 'null'],
  ['cnf', '"jkt"'],
  ['cnf', '[]'],
  ['cnf', '{"jkt":""}'],
  ['cnf', '{"jkt":"AAAA"}'],
  ['cnf', '{"jkt":7}'],
  ['cnf', '{"x5t#S256":"AAAA"}'],
  ['__proto__', '{"sub":"root","exp":9e9}'],
  ['gw_user', 'null'],
  ['gw_future', '1'],
  ['scp', '7'],
  ['note', json('é😀')],
]

function changeArbitrary(nowSeconds: number, toleranceSeconds: number): fc.Arbitrary<Change> {
  const at = time(nowSeconds, toleranceSeconds)
  const values: readonly (readonly ['header' | 'claims', string, fc.Arbitrary<string>])[] = [
    ['header', 'alg', algorithm],
    ['header', 'typ', type],
    ['header', 'kid', keyId],
    ['claims', 'exp', at],
    ['claims', 'iat', at],
    ['claims', 'nbf', at],
    ['claims', 'aud', audience],
    ['claims', 'iss', fc.oneof(text, oneOf([`${ISSUER}/`, [ISSUER], ISSUER.toUpperCase()]))],
    ...['sub', 'jti', 'client_id', 'scope', 'gw_surface', 'gw_policies', 'gw_key_version'].map(
      name => ['claims', name, text] as const,
    ),
  ]
  const set = fc.oneof(
    ...values.map(([part, name, value]) =>
      fc.option(value, { nil: undefined, freq: 8 }).map((drawn): Change => ({ part, name, value: drawn })),
    ),
  )
  const repeated = fc.oneof(
    ...values.map(([part, name, value]) => value.map((drawn): Change => ({ part, added: [name, drawn] }))),
  )
  const edits = [
    '.',
    '=',
    '==',
    '\n',
    ' ',
    '\t',
    '\0',
    '..',
    'trailing part',
    'cut',
    'flip',
    'standard alphabet',
  ]
  return fc.oneof(
    { weight: 12, arbitrary: set },
    { weight: 2, arbitrary: repeated },
    {
      weight: 2,
      arbitrary: fc.constantFrom(...EXTRA_HEADERS).map((added): Change => ({ part: 'header', added })),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(...EXTRA_CLAIMS).map((added): Change => ({ part: 'claims', added })),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        part: fc.constant('text' as const),
        edit: fc.constantFrom(...edits, 'spare bits', 'byte order mark', 'not UTF-8', 'not an object'),
        at: fc.nat(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom('none', 'HMAC of the key', 'HMAC of the modulus', 'zeros', 'DER')
        .map((forged): Change => ({ part: 'signature', forged })),
    },
  )
}

/** Recipes of tokens at a time. A third of their tokens has no change. */
export function recipe(nowSeconds: number, toleranceSeconds: number): fc.Arbitrary<Recipe> {
  const valid: readonly Member[] = [
    ['iss', json(ISSUER)],
    ['aud', json(AUDIENCE)],
    ['sub', '"acc_1"'],
    ['jti', '"ses_1"'],
    ['client_id', '"key_1"'],
    ['scope', '"cards.read"'],
    ['iat', json(nowSeconds - 60)],
    ['exp', json(nowSeconds + 840)],
  ]
  const ofIssuer: readonly Member[] = [
    ...valid,
    ['gw_user', 'null'],
    ['gw_wallet', 'null'],
    ['gw_surface', '"user"'],
    ['gw_key_version', '1'],
    ['gw_policies', '[]'],
  ]
  const changes = changeArbitrary(nowSeconds, toleranceSeconds)
  return fc.record({
    signer: fc.oneof(
      { weight: 4, arbitrary: fc.nat(1) },
      { weight: 3, arbitrary: fc.nat(SIGNERS.length - 1) },
    ),
    claims: fc.constantFrom(valid, ofIssuer),
    changes: fc.array(changes, { maxLength: 3, size: 'max' }),
  })
}

const PADDING = constants.RSA_PKCS1_PSS_PADDING
/** Signs with the algorithm of the key, whatever the header says. */
function signature({ alg, privateKey }: Signer, input: string): Buffer {
  const bytes = Buffer.from(input)
  if (alg.startsWith('Ed')) return signBytes(null, bytes, privateKey)
  const hash = `sha${alg.slice(2)}`
  if (alg.startsWith('ES')) return signBytes(hash, bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' })
  const padding = alg.startsWith('PS') ? { padding: PADDING, saltLength: 32 } : {}
  return signBytes(hash, bytes, { key: privateKey, ...padding })
}

function forgedSignature(forged: string, by: Signer, input: string): Buffer {
  if (forged === 'none') return Buffer.alloc(0)
  if (forged === 'zeros') return Buffer.alloc(64)
  if (forged === 'DER')
    return signBytes(
      'sha256',
      Buffer.from(input),
      by.privateKey.asymmetricKeyType === 'ed25519' ? rsaKey() : by.privateKey,
    )
  const secret = forged === 'HMAC of the key' ? json(by.jwk) : (by.jwk.n ?? by.jwk.x ?? '')
  return createHmac('sha256', secret).update(input).digest()
}
const rsaKey = (): KeyObject => (SIGNERS.find(({ alg }) => alg === 'RS256') as Signer).privateKey

function withChanges(
  members: readonly Member[],
  part: string,
  changes: readonly Change[],
): readonly Member[] {
  return changes.reduce((list, change) => {
    if (change.part !== part) return list
    if ('added' in change) return [...list, change.added]
    if (!('name' in change)) return list
    const others = list.filter(([name]) => name !== change.name)
    return change.value === undefined ? others : [...others, [change.name, change.value] as const]
  }, members)
}

const objectOf = (members: readonly Member[]): string =>
  `{${members.map(([name, value]) => `${json(name)}:${value}`).join(',')}}`

/** The bytes of the claims, with the edits that no JSON text has. */
function payloadOf(text: string, edits: readonly string[]): Buffer {
  if (edits.includes('not an object')) return Buffer.from(`[${text}]`)
  if (edits.includes('byte order mark')) return Buffer.from(`\ufeff${text}`)
  const bytes = Buffer.from(text)
  if (edits.includes('not UTF-8')) bytes[bytes.indexOf('_')] = 0xff
  return bytes
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
function edited(token: string, edit: string, at: number): string {
  const place = at % Math.max(token.length, 1)
  const tails = ['.', '=', '==', '\n', ' ', '\t', '\0', '..']
  if (tails.includes(edit)) return at % 2 === 0 ? token + edit : token.replace('.', `${edit}.`)
  if (edit === 'trailing part') return `${token}.AAAA`
  if (edit === 'cut') return token.slice(0, place)
  if (edit === 'flip') return token.slice(0, place) + (ALPHABET[at % 64] as string) + token.slice(place + 1)
  if (edit === 'standard alphabet') return token.replaceAll('-', '+').replaceAll('_', '/')
  if (edit !== 'spare bits') return token
  const value = ALPHABET.indexOf(token.at(-1) ?? '')
  return token.slice(0, -1) + (ALPHABET[(value + 1) % 64] as string)
}

/** Makes the token of a recipe. */
export function tokenOf({ signer: at, claims, changes }: Recipe): string {
  const by = SIGNERS[at] as Signer
  const plain: readonly Member[] = [
    ['alg', json(by.alg)],
    ['typ', '"at+jwt"'],
    ['kid', json(by.jwk.kid)],
  ]
  const edits = changes.flatMap(change => (change.part === 'text' ? [change] : []))
  const header = Buffer.from(objectOf(withChanges(plain, 'header', changes)))
  const payload = payloadOf(
    objectOf(withChanges(claims, 'claims', changes)),
    edits.map(({ edit }) => edit),
  )
  const input = `${header.toString('base64url')}.${payload.toString('base64url')}`
  const forged = changes.flatMap(change => (change.part === 'signature' ? [change.forged] : []))[0]
  const bytes = forged === undefined ? signature(by, input) : forgedSignature(forged, by, input)
  return edits.reduce(
    (token, { edit, at: place }) => edited(token, edit, place),
    `${input}.${bytes.toString('base64url')}`,
  )
}
