// The texts of a sign-in and the tokens that it gives.
import { createHash, randomBytes } from 'node:crypto'
import { createSealer } from '#packages/host/dist/records/sealed.js'
import { GRACE_MS } from '@gatewright/kernel'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import {
  createChallengeCodec,
  LOGIN_DIGEST,
} from '#packages/reference-host/dist/modules/web-sign-in/challenge.js'
import { newWebSession, webTokens } from '#packages/reference-host/dist/modules/web-sign-in/web-token.js'
import { denyOtherOrigin } from '#packages/reference-host/dist/modules/web-sign-in/cross-origin.js'

const NOW = 1_767_225_600_000
const ORIGIN = 'https://pay.example'
const sealer = createSealer([{ id: '1', secret: randomBytes(32) }])
const WALLET = { address: `0x${'a'.repeat(40)}`, connector: null, chainId: null, walletLabel: null }

t.test('a challenge names domain, chain, times, digest and the code of a command line', async t => {
  const codec = createChallengeCodec({ sealer, serviceName: 'Acme: Pay', origin: ORIGIN })
  t.equal(LOGIN_DIGEST, createHash('sha256').update('POST /auth/login').digest('hex'))
  const made = codec.make({ ...WALLET, chainId: 8453, cli: { requestId: 'r', code: 'BCDF2345' } }, NOW)
  t.match(made, {
    ...WALLET,
    chainId: 8453,
    nonce: /^[0-9a-f]{32}$/,
    issuedAt: NOW,
    expiresAt: NOW + 300_000,
  })
  const text = codec.message(made)
  for (const line of [
    'pay.example wants you to sign in with your Ethereum account:',
    'Chain ID: 8453',
    `Nonce: ${made.nonce}`,
    `Issued At: ${new Date(NOW).toISOString()}`,
    `Expiration Time: ${new Date(NOW + 300_000).toISOString()}`,
    'Request ID: BCDF2345',
  ])
    t.ok(text.split('\n').includes(line), line)
  t.match(text, new RegExp(`${LOGIN_DIGEST}$`))
  t.match(text, /Sign in to Acme\? Pay\. /)
  const plain = codec.message(codec.make(WALLET, NOW))
  t.match(plain, /^Chain ID: 1$/m)
  t.notMatch(plain, /Request ID/)
  t.match(codec.proof(made, '0x12'), {
    template: 'eip4361',
    message: text,
    signature: '0x12',
    address: WALLET.address,
    nonce: made.nonce,
    issuedAt: new Date(NOW).toISOString(),
    expiresAt: new Date(NOW + 300_000).toISOString(),
  })
})

t.test('opens what it sealed for its own origin, and nothing else', async t => {
  const codec = createChallengeCodec({ sealer, serviceName: 'Acme', origin: ORIGIN })
  const other = createChallengeCodec({ sealer, serviceName: 'Acme', origin: 'https://other.example' })
  const made = codec.make(WALLET, NOW)
  t.same(codec.open(codec.seal(made)), made)
  t.equal(other.open(codec.seal(made)), undefined)
  t.equal(codec.open('none'), undefined)
})

t.test('a web token is good for ten minutes, and makes one key', async t => {
  const clock = manualClock(NOW)
  const claimed: unknown[][] = []
  const nonces = {
    async claim(...args: unknown[]) {
      claimed.push(args)
      return claimed.length === 1
    },
  }
  let from = 0
  const issuedFrom = async () => from
  const tokens = webTokens({ sealer, nonces: nonces as never, issuedFrom, clock, origin: ORIGIN })
  const signedIn = {
    accountId: 'acc_1',
    userId: 'usr_1',
    address: '0xa',
    connector: null,
    chainId: 1,
    walletLabel: null,
  }
  const session = newWebSession(signedIn, NOW)
  t.match(session, { ...signedIn, sessionId: /^[0-9a-f]{32}$/, expiresAt: NOW + 600_000 })
  const token = tokens.mint(session)
  t.same(tokens.read(token), session)
  t.equal(tokens.read(`${token}A`), undefined)
  clock.advance(599_999)
  t.same(tokens.authenticate(token), { ok: true, value: { webSession: session } })
  t.match(tokens.authenticate('none'), { ok: false, code: 'unauthorized', status: 401 })
  t.match(await tokens.claim(session, 'create a key'), { ok: true })
  t.match(await tokens.claim(session, 'create a key'), { ok: false, code: 'unauthorized' })
  t.same(claimed[0], [`web token\n${session.sessionId}`, NOW + 600_000 + GRACE_MS, NOW + 599_999])
  clock.advance(1)
  t.match(tokens.authenticate(token), { ok: false, code: 'unauthorized' })
  t.match(await tokens.claim(session, 'create a key'), { ok: false, code: 'unauthorized' })
  t.equal(claimed.length, 2, 'an expired one is not claimed')
  claimed.length = 0
  const later = newWebSession(signedIn, clock.now())
  from = clock.now() + 1
  t.match(
    await tokens.claim(later, 'create a key'),
    { ok: false, code: 'unauthorized' },
    'issued before a restore',
  )
  from = clock.now()
  t.match(await tokens.claim(later, 'create a key'), { ok: true })
  t.same(tokens.read(token), session, 'it can still be read')
})

t.test('denies what a page of another origin sent', async t => {
  const denied = (fields: Record<string, string>): unknown =>
    denyOtherOrigin({ header: (name: string) => fields[name] } as never, ORIGIN)
  for (const fields of [
    {},
    { origin: ORIGIN },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-origin' },
    { origin: ORIGIN, 'sec-fetch-site': 'same-origin' },
  ])
    t.equal(denied(fields), undefined, JSON.stringify(fields))
  for (const fields of [
    { origin: 'https://evil.example' },
    { origin: '' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': '' },
    { origin: ORIGIN, 'sec-fetch-site': 'same-site' },
    { origin: 'null', 'sec-fetch-site': 'same-origin' },
  ])
    t.match(denied(fields), {
      code: 'policy_blocked',
      details: { rule: 'cross_origin' },
    })
})
