import { createVerifier, renderEip4361, type VerifierOptions } from '@gatewright/signature-verifier'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import t from 'tap'
import { fieldsFor, newWallet, openVerifier, signed } from './wallets.ts'

const wallet = newWallet()
const domain = 'app.example.com'
const challenges = { templates: ['eip4361'], ttlMs: 60_000 }

type TestVerifier = ReturnType<typeof openVerifier>

/** An EIP-4361 proof with this nonce. */
async function proofWith({ clock }: TestVerifier, nonce: string, signer = wallet) {
  const fields = fieldsFor(signer, clock, { nonce })
  const message = renderEip4361({
    domain,
    address: signer.address,
    uri: `https://${domain}`,
    chainId: '1',
    nonce,
    issuedAt: fields.issuedAt,
    expirationTime: fields.expiresAt,
  })
  return { ...(await signed(signer, fields, () => message)), message }
}

async function nonceFor({ issueChallenge }: TestVerifier, address?: unknown): Promise<string> {
  const verdict = await issueChallenge(address)
  if (!verdict.ok) throw new Error(verdict.message)
  return verdict.value.nonce
}

t.test('accepts an issued nonce once, for the wallet it was issued to', async t => {
  const opened = openVerifier({ domain, challenges })
  const nonce = await nonceFor(opened, wallet.address)
  t.match(nonce, /^[a-zA-Z0-9]{22}$/)
  const other = newWallet()
  const reason = 'challenge unknown, expired or used before'
  t.match(await opened.verify(await proofWith(opened, nonce, other)), { ok: false, status: 401, reason })
  const proof = await proofWith(opened, nonce)
  t.match(await opened.verify(proof), { ok: true, value: { template: 'eip4361' } })
  t.match(await opened.verify(proof), { ok: false, status: 401, reason })
})

t.test('accepts a nonce that was issued for any wallet once, for the wallet that uses it first', async t => {
  const opened = openVerifier({ domain, challenges })
  const nonce = await nonceFor(opened)
  t.match(await opened.verify(await proofWith(opened, nonce)), { ok: true })
  t.match(await opened.verify(await proofWith(opened, nonce, newWallet())), { ok: false, status: 401 })
})

t.test('rejects a nonce that the client chose, and an expired one', async t => {
  const opened = openVerifier({ domain, challenges })
  t.match(await opened.verify(await proofWith(opened, 'clientchosen1')), { ok: false, status: 401 })
  const [late, soon] = [await nonceFor(opened), await nonceFor(opened)]
  opened.clock.advance(59_999)
  t.match(await opened.verify(await proofWith(opened, soon)), { ok: true })
  opened.clock.advance(1)
  t.match(await opened.verify(await proofWith(opened, late)), { ok: false, status: 401 })
})

t.test("accepts the client's own nonces for the templates that need no challenge", async t => {
  const opened = openVerifier({ domain, challenges })
  t.match(await opened.verify(await signed(wallet, fieldsFor(wallet, opened.clock))), { ok: true })
})

t.test('a wrong signature consumes no challenge', async t => {
  const opened = openVerifier({ domain, challenges })
  const proof = await proofWith(opened, await nonceFor(opened))
  const { signature } = await proofWith(opened, 'anothernonce1')
  t.match(await opened.verify({ ...proof, signature }), { ok: false, status: 401 })
  t.match(await opened.verify(proof), { ok: true })
})

t.test('accepts one statement once on hosts that require a challenge and hosts that do not', async t => {
  for (const strictFirst of [true, false]) {
    const nonces = memoryNonces()
    const strict = openVerifier({ domain, challenges, nonces })
    const plain = openVerifier({ domain, nonces })
    const proof = await proofWith(strict, await nonceFor(strict, wallet.address))
    const [first, second] = strictFirst ? [strict, plain] : [plain, strict]
    t.match(await first.verify(proof), { ok: true })
    t.match(await second.verify(proof), { ok: false, status: 401, reason: 'nonce used before' })
  }
})

t.test('throws ERR_STORE_FULL when more challenges are open than the store holds', async t => {
  const opened = openVerifier({ domain, challenges, nonces: memoryNonces({ capacity: 2 }) })
  await nonceFor(opened)
  await nonceFor(opened)
  await t.rejects(opened.issueChallenge(), { name: 'Fault', code: 'ERR_STORE_FULL' })
})

t.test('rejects a malformed address and invalid challenge options by name', async t => {
  const opened = openVerifier({ domain, challenges })
  for (const address of ['0x12', 7, {}, '']) {
    t.match(await opened.issueChallenge(address), { ok: false, status: 400, field: 'address' })
  }
  await t.rejects(openVerifier().issueChallenge(), { name: 'TypeError', message: /challenges/ })
  const { claim, collect } = memoryNonces()
  const wrong: [RegExp, Partial<VerifierOptions>][] = [
    [/ChallengeStorage/, { nonces: { claim, collect } }],
    [/challenges.templates/, { challenges: { templates: ['C'] } }],
    [/challenges: ttlMs/, { challenges: { templates: ['A'], ttlMs: 9_999 } }],
  ]
  for (const [message, options] of wrong) {
    const base = { service: 'Gatewright', nonces: memoryNonces(), domain, challenges }
    t.throws(() => createVerifier({ ...base, ...options }), { name: 'TypeError', message })
  }
})
