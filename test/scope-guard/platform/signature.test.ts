// Which signatures and keys are accepted, the same on every platform: web.test.ts runs this file again over Web Crypto.
import {
  constants,
  createHmac,
  generateKeyPairSync,
  sign,
  type KeyObject,
  type SigningOptions,
} from 'node:crypto'
import { localKeys } from '@gatewright/scope-guard'
import fc from 'fast-check'
import type { JWK } from 'jose'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { bench, claims, session } from '../issuer.ts'
import { isWebPlatform, signatureChecks } from '../verifications.ts'

type Twin = typeof import('../../../packages/scope-guard/dist/platform/node/signature.js')
const twin = (platform: string): Promise<Twin> =>
  import(`${process.cwd()}/packages/scope-guard/dist/platform/${platform}/signature.js`) as Promise<Twin>

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const rule = { operation: 'cards.list', allOf: [] }
const accepted = { ok: true }
const denied = { ok: false, code: 'unauthorized', status: 401 }
const invalid = { ...denied, reason: 'invalid signature' }
const otherAlgorithm = { ...denied, reason: 'the algorithm does not match the key' }
const fault = { name: 'Fault', code: 'ERR_KEYS_UNAVAILABLE' }

const pairs = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  rsa2050: generateKeyPairSync('rsa', { modulusLength: 2050 }),
  weak: generateKeyPairSync('rsa', { modulusLength: 1024 }),
  p256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  p384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  p521: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  k256: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
  ed: generateKeyPairSync('ed25519'),
}
type PairName = keyof typeof pairs
const jwkOf = (name: PairName): JWK => pairs[name].publicKey.export({ format: 'jwk' })

const { RSA_PKCS1_PSS_PADDING: PSS } = constants
/** Each algorithm with its digest and its form, written out once more: not taken from the code under test. */
const FORMS: Readonly<Record<string, [PairName, string | null, SigningOptions]>> = {
  RS256: ['rsa', 'sha256', {}],
  RS384: ['rsa', 'sha384', {}],
  RS512: ['rsa', 'sha512', {}],
  PS256: ['rsa', 'sha256', { padding: PSS, saltLength: 32 }],
  PS384: ['rsa', 'sha384', { padding: PSS, saltLength: 48 }],
  PS512: ['rsa', 'sha512', { padding: PSS, saltLength: 64 }],
  ES256: ['p256', 'sha256', { dsaEncoding: 'ieee-p1363' }],
  ES384: ['p384', 'sha384', { dsaEncoding: 'ieee-p1363' }],
  ES512: ['p521', 'sha512', { dsaEncoding: 'ieee-p1363' }],
  EdDSA: ['ed', null, {}],
  Ed25519: ['ed', null, {}],
}

interface ForgedToken {
  /** The pair that the token is signed with. Default: that of the algorithm. */
  readonly by?: PairName
  readonly header?: Record<string, unknown>
  readonly digest?: string | null
  readonly form?: SigningOptions
  readonly change?: (signature: Buffer) => Buffer
  /** Members of the published key, over its own. */
  readonly published?: Record<string, unknown>
}

/** Sends a guard with one published key a token that claims `alg`. */
async function send(alg: string, forged: ForgedToken = {}) {
  const [pair, digest, form] = FORMS[alg] as (typeof FORMS)[string]
  const { by = pair, header = {}, change = (signature: Buffer) => signature, published = {} } = forged
  const jwk = { ...jwkOf(by), kid: 'k', ...published } as JWK
  const { guard, clock } = await bench({ keys: async () => jwk })
  const input = `${encode({ alg, typ: 'at+jwt', kid: 'k', ...header })}.${encode(claims(session(clock.now())))}`
  const key: KeyObject = pairs[by].privateKey
  const options = { key, ...(forged.form ?? form) }
  const signature = sign(forged.digest === undefined ? digest : forged.digest, Buffer.from(input), options)
  return guard.check({ authorization: `Bearer ${input}.${change(signature).toString('base64url')}` }, rule)
}

t.test('accepts every algorithm with its key, by the platform of this process', async t => {
  const checks = signatureChecks(t)
  for (const alg of Object.keys(FORMS)) t.match(await send(alg, { published: { alg } }), accepted, alg)
  t.match(await send('RS256', { by: 'rsa2050' }), accepted, 'a modulus that is not whole bytes')
  const [used, unused] = isWebPlatform ? [checks.web(), checks.node()] : [checks.node(), checks.web()]
  t.same([used, unused], [Object.keys(FORMS).length + 1, 0])
})

t.test('verifies with the one algorithm of a key, and no other of its family or of another', async t => {
  const named: [string, ForgedToken][] = [
    ['RS384', { published: { alg: 'RS256' } }],
    ['PS256', { published: { alg: 'RS256' } }],
    ['RS256', { published: { alg: 'PS256' } }],
    ['PS256', {}],
    ['ES384', { by: 'p256', digest: 'sha384' }],
    ['ES256', { by: 'p384', digest: 'sha256' }],
    ['ES256', { by: 'p521', digest: 'sha256' }],
    ['ES256', { by: 'ed', digest: null, form: {} }],
    ['EdDSA', { by: 'p256', digest: 'sha256' }],
    ['RS256', { by: 'p256', digest: 'sha256' }],
    ['ES256', { by: 'rsa', form: {} }],
  ]
  for (const [alg, forged] of named)
    t.match(await send(alg, forged), otherAlgorithm, `${alg} ${JSON.stringify(forged)}`)
  for (const alg of ['none', 'None', '', 'HS256', 'ES256K', 'Ed448', 'rs256', null, 5, ['RS256']]) {
    t.match(await send('RS256', { header: { alg } }), otherAlgorithm, JSON.stringify(alg))
  }
})

t.test('denies a MAC that is made with the public key (algorithm confusion)', async t => {
  const { publicKey } = pairs.rsa
  const secrets = [
    publicKey.export({ format: 'pem', type: 'spki' }),
    publicKey.export({ format: 'der', type: 'spki' }),
    JSON.stringify(jwkOf('rsa')),
  ]
  const { guard, clock } = await bench({ keys: localKeys({ keys: [{ ...jwkOf('rsa'), kid: 'k' }] }) })
  for (const [alg, secret] of secrets.flatMap(each => [['HS256', each] as const, ['RS256', each] as const])) {
    const input = `${encode({ alg, typ: 'at+jwt', kid: 'k' })}.${encode(claims(session(clock.now())))}`
    const mac = createHmac('sha256', secret).update(input).digest('base64url')
    t.match(await guard.check({ authorization: `Bearer ${input}.${mac}` }, rule), denied)
  }
})

const P256_ORDER = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551')
const ED_ORDER = (1n << 252n) + 27742317777372353535851937790883648493n
const bigEndian = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
const inBytes = (value: bigint, length: number): Buffer =>
  Buffer.from(value.toString(16).padStart(2 * length, '0'), 'hex')
const halves = (signature: Buffer): [Buffer, Buffer] => [signature.subarray(0, 32), signature.subarray(32)]
const truncated = (signature: Buffer): Buffer => signature.subarray(0, -1)
const extended = (signature: Buffer): Buffer => Buffer.concat([signature, Buffer.from([0])])
const prefixed = (signature: Buffer): Buffer => Buffer.concat([Buffer.from([0]), signature])

t.test('denies malformed ECDSA signatures: DER, wrong lengths, r or s out of range', async t => {
  const changes: Record<string, (signature: Buffer) => Buffer> = {
    truncated,
    extended,
    prefixed,
    doubled: signature => Buffer.concat([signature, signature]),
    'one byte': () => Buffer.from([1]),
    zeros: () => Buffer.alloc(64),
    'r is 0': signature => Buffer.concat([Buffer.alloc(32), halves(signature)[1]]),
    's is 0': signature => Buffer.concat([halves(signature)[0], Buffer.alloc(32)]),
    's beyond the order': signature =>
      Buffer.concat([
        halves(signature)[0],
        inBytes((bigEndian(halves(signature)[1]) % (1n << 200n)) + P256_ORDER, 32),
      ]),
    'r and s swapped': signature => Buffer.concat(halves(signature).toReversed()),
    'r and s of ones': () => Buffer.alloc(64, 0xff),
  }
  for (const [name, change] of Object.entries(changes))
    t.match(await send('ES256', { change }), invalid, name)
  t.match(await send('ES256', { form: { dsaEncoding: 'der' } }), invalid, 'DER')
  for (const alg of ['ES384', 'ES512']) {
    t.match(await send(alg, { form: { dsaEncoding: 'der' } }), invalid, `${alg} DER`)
    for (const change of [truncated, extended, prefixed]) t.match(await send(alg, { change }), invalid, alg)
  }
  t.match(await send('ES256', { digest: 'sha384' }), invalid, 'another digest')
})

t.test('accepts an ECDSA signature with a high s, which RFC 7518 allows', async t => {
  for (const isHigh of [true, false]) {
    const change = (signature: Buffer): Buffer => {
      const [r, s] = halves(signature)
      const value = bigEndian(s)
      const other = P256_ORDER - value
      return Buffer.concat([r, inBytes(isHigh === value > other ? value : other, 32)])
    }
    t.match(await send('ES256', { change }), accepted, isHigh ? 'high' : 'low')
  }
})

t.test('denies malformed Ed25519 signatures, among them those with S beyond the order', async t => {
  const malleable = (signature: Buffer): Buffer => {
    const [point, scalar] = halves(signature)
    const moved = inBytes(bigEndian(Buffer.from(scalar).reverse()) + ED_ORDER, 32).reverse()
    return Buffer.concat([point, moved])
  }
  for (const change of [truncated, extended, prefixed, malleable, () => Buffer.alloc(64)])
    t.match(await send('EdDSA', { change }), invalid)
})

t.test('denies RSA signatures of another length, padding, salt or digest', async t => {
  for (const alg of ['RS256', 'PS256']) {
    const published = { alg }
    for (const change of [
      truncated,
      extended,
      prefixed,
      () => Buffer.alloc(256),
      () => Buffer.alloc(256, 0xff),
    ])
      t.match(await send(alg, { published, change }), invalid, alg)
    const other = FORMS[alg === 'RS256' ? 'PS256' : 'RS256'] as (typeof FORMS)[string]
    t.match(await send(alg, { published, form: other[2] }), invalid, `${alg} with the other padding`)
    for (const digest of ['sha1', 'sha384', 'sha512'])
      t.match(await send(alg, { published, digest }), invalid, `${alg} over ${digest}`)
  }
  for (const saltLength of [0, 20, 31, 33, constants.RSA_PSS_SALTLEN_MAX_SIGN]) {
    const form = { padding: PSS, saltLength }
    t.match(
      await send('PS256', { published: { alg: 'PS256' }, form }),
      invalid,
      `a salt of ${saltLength} bytes`,
    )
  }
})

t.test('rejects keys that may not verify, and faults on keys that are weak or malformed', async t => {
  const forbidden: Record<string, unknown>[] = [
    { use: 'enc' },
    { key_ops: ['sign'] },
    { key_ops: [] },
    { d: 'AAAA' },
  ]
  for (const published of [...forbidden, { alg: 'ES384' }, { alg: 'RS256' }, { alg: 'ECDH-ES' }])
    t.match(await send('ES256', { published }), denied, JSON.stringify(published))
  for (const published of [{ alg: 'RSA-OAEP' }, { alg: 'RS1' }, { alg: 'HS256' }])
    t.match(await send('RS256', { published }), denied, JSON.stringify(published))
  t.match(await send('ES256', { by: 'k256' }), denied, 'a curve without an algorithm')
  await t.rejects(send('RS256', { by: 'weak' }), fault)
  const malformed: [string, ForgedToken][] = [
    ['ES256', { published: { x: 'AAAA' } }],
    ['ES256', { published: { x: jwkOf('p384').x } }],
    ['ES256', { published: { y: undefined } }],
    ['ES256', { published: { kty: 'OKP' } }],
    ['ES256', { published: { kty: 'AKP' } }],
    ['ES256', { published: { ext: 'yes' } }],
    ['ES256', { published: { key_ops: ['verify', 'verify'] } }],
    ['ES256', { by: 'p384', published: { crv: 'P-256' }, digest: 'sha256' }],
    ['EdDSA', { published: { kty: 'EC' } }],
    ['EdDSA', { published: { x: 'AAAA' } }],
  ]
  for (const [alg, forged] of malformed)
    await t.rejects(send(alg, forged), fault, JSON.stringify(forged.published))
  t.match(
    await send('ES256', { published: { key_ops: ['verify'], use: 'sig', ext: true, alg: 'ES256' } }),
    accepted,
  )
})

t.test('denies every crit header, and ignores b64 without it as RFC 7797 does', async t => {
  for (const header of [
    { crit: ['b64'], b64: false },
    { crit: ['b64'], b64: true },
    { crit: [] },
    { crit: ['exp'] },
  ])
    t.match(await send('EdDSA', { header }), { ...denied, reason: 'crit header' })
  t.match(await send('EdDSA', { header: { b64: false } }), accepted)
})

t.test('both platforms decide the same about any signature', async () => {
  const [node, web] = [await twin('node'), await twin('web')]
  for (const alg of ['RS256', 'PS256', 'ES256', 'ES512', 'EdDSA']) {
    const [pair, digest, form] = FORMS[alg] as (typeof FORMS)[string]
    const jwk = jwkOf(pair)
    const [ours, joses] = [
      await node.importVerificationKey(jwk, alg),
      await web.importVerificationKey(jwk, alg),
    ]
    const input = `${encode({ alg })}.${encode({ sub: 'a' })}`
    const valid = sign(digest, Buffer.from(input), { key: pairs[pair].privateKey, ...form })
    const changed = fc
      .array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { maxLength: 2 })
      .map(changes =>
        changes.reduce((bytes, [at, value]) => bytes.fill(value, at, at + 1), Buffer.from(valid)),
      )
    const signature = fc.oneof(changed, fc.uint8Array({ minLength: 1, maxLength: 300 }).map(Buffer.from))
    await fc.assert(
      fc.asyncProperty(signature, async bytes => {
        const token = `${input}.${Buffer.from(bytes).toString('base64url')}`
        const [one, other] = [ours.isSigned(token), await joses.isSigned(token)]
        return one === other && one === valid.equals(bytes)
      }),
      { numRuns: randomCases(60), examples: [[valid]] },
    )
  }
})
