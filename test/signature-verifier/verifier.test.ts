import { type NonceStorage, type VerifierOptions, createVerifier } from '@gatewright/signature-verifier'
import type { WalletProof } from '@gatewright/signature-verifier/internal'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../harness/random-cases.ts'
import { mistyped } from '../harness/chain/addresses.ts'
import { type Fields, fieldsFor, newWallet, openVerifier, signed, textA, textB } from './wallets.ts'

const wallet = newWallet()

t.test('verifies template A, and returns wallet, address, template, bindings and expiry', async t => {
  const { verify, clock } = openVerifier()
  const verdict = await verify(await signed(wallet, fieldsFor(wallet, clock)))
  t.same(verdict, {
    ok: true,
    value: {
      wallet: wallet.address.toLowerCase(),
      address: wallet.address.toLowerCase(),
      template: 'A',
      binds: [],
      expiresAt: clock.now() + 300_000,
    },
  })
})

t.test('verifies template A although the proof also has the fields of B', async t => {
  const { verify, clock } = openVerifier()
  const fields = fieldsFor(wallet, clock, { connector: 'injected', chainId: 1, walletLabel: 'Main' })
  t.match(await verify(await signed(wallet, fields)), { ok: true, value: { template: 'A' } })
})

t.test('verifies template B, with and without its optional fields', async t => {
  const { verify, clock } = openVerifier()
  const sent: Partial<Fields>[] = [
    { connector: 'injected', chainId: 8453, walletLabel: 'Main 👛' },
    { connector: 'injected', chainId: '8453' },
    { connector: '', chainId: null, walletLabel: undefined },
    { chainId: 0 },
    {},
  ]
  for (const extra of sent) {
    const fields = fieldsFor(wallet, clock, extra)
    const verdict = await verify(await signed(wallet, fields, textB))
    t.match(verdict, { ok: true, value: { template: 'B', binds: extra.chainId ? ['chain'] : [] } })
  }
})

t.test('renders the address as sent, whatever its case, for one wallet', async t => {
  const { verify, clock } = openVerifier()
  const digits = wallet.address.slice(2)
  for (const address of [wallet.address, `0x${digits.toLowerCase()}`, `0x${digits.toUpperCase()}`]) {
    const verdict = await verify(await signed(wallet, fieldsFor(wallet, clock, { address })))
    t.match(verdict, { ok: true, value: { wallet: wallet.address.toLowerCase() } })
  }
})

t.test('tries only the named template', async t => {
  const { verify, clock } = openVerifier()
  const byB = await signed(wallet, fieldsFor(wallet, clock, { template: 'A' }), textB)
  t.match(await verify(byB), { ok: false, code: 'invalid_signature' })
  t.match(await verify({ ...byB, template: 'B' }), { ok: true })
  t.match(await verify({ ...byB, template: 'Z' }), { code: 'invalid_request', field: 'template' })
})

t.test('costs two recoveries at most, one with a hint', async t => {
  const created: number[] = []
  const { verify, clock } = openVerifier({
    recover: () => {
      created.push(1)
      return undefined
    },
  })
  const proof = await signed(wallet, fieldsFor(wallet, clock))
  await verify(proof)
  t.equal(created.length, 2)
  await verify({ ...proof, template: 'B' })
  t.equal(created.length, 3)
})

t.test('denies a statement for another service, so a sandbox proof fails in production', async t => {
  const { verify, clock } = openVerifier()
  const proof = await signed(wallet, fieldsFor(wallet, clock), fields => textA(fields, 'Gatewright Sandbox'))
  t.match(await verify(proof), { ok: false, code: 'invalid_signature' })
})

t.test('accepts v 27, 28, 0 and 1 and the compact form of EIP-2098', async t => {
  const { verify, clock } = openVerifier()
  const seen = new Set<string>()
  while (seen.size < 2) {
    const proof = await signed(wallet, fieldsFor(wallet, clock))
    const [rs, v] = [proof.signature.slice(0, -2), Number.parseInt(proof.signature.slice(-2), 16)]
    seen.add(String(v))
    const small = `${rs}0${v - 27}`
    const top = (Number.parseInt(rs.slice(66, 68), 16) | ((v - 27) << 7)).toString(16).padStart(2, '0')
    const compact = `${rs.slice(0, 66)}${top}${rs.slice(68)}`
    // A denial for v comes first, so the valid forms still find the nonce unused.
    t.match(await verify({ ...proof, signature: `${rs}02` }), { code: 'invalid_signature' })
    t.match(await verify({ ...proof, signature: small }), { ok: true })
    t.match(await verify({ ...proof, signature: compact }), { reason: 'nonce used before' })
    t.match(await verify(proof), { reason: 'nonce used before' })
  }
})

t.test('denies the mirrored signature that viem accepts', async t => {
  const { verify, clock } = openVerifier()
  const proof = await signed(wallet, fieldsFor(wallet, clock))
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const mirrored = (order - BigInt(`0x${proof.signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
  const v = proof.signature.endsWith('1b') ? '1c' : '1b'
  const signature = `${proof.signature.slice(0, 66)}${mirrored}${v}`
  t.match(await verify({ ...proof, signature }), { ok: false, code: 'invalid_signature', status: 401 })
  t.match(await verify(proof), { ok: true })
})

t.test('accepts a nonce once per address and does not let another wallet use it up', async t => {
  const { verify, clock } = openVerifier()
  const nonce = 'chosen-by-client'
  const proof = await signed(wallet, fieldsFor(wallet, clock, { nonce }))
  const stranger = newWallet()
  t.match(await verify({ ...proof, signature: (await signed(stranger, proof)).signature }), { ok: false })
  t.match(await verify(await signed(stranger, fieldsFor(stranger, clock, { nonce }))), { ok: true })
  t.match(await verify(proof), { ok: true })
  t.match(await verify(proof), { ok: false, code: 'invalid_signature', reason: 'nonce used before' })
})

t.test('recognises a wallet by its address in upper or lower case', async t => {
  const { verify, clock } = openVerifier()
  const nonce = 'same-nonce-1'
  t.match(await verify(await signed(wallet, fieldsFor(wallet, clock, { nonce }))), { ok: true })
  const lower = fieldsFor(wallet, clock, { nonce, address: wallet.address.toLowerCase() })
  t.match(await verify(await signed(wallet, lower)), { ok: false, reason: 'nonce used before' })
})

t.test('remembers a nonce until the statement expired, plus skew, plus 10 minutes', async t => {
  const claims: number[] = []
  const nonces: NonceStorage = {
    ...memoryNonces(),
    claim: async (_key, until) => claims.push(until) > 0,
  }
  const { verify, clock } = openVerifier({ nonces })
  await verify(await signed(wallet, fieldsFor(wallet, clock)))
  t.same(claims, [clock.now() + 300_000 + 60_000 + 600_000])
})

t.test('decides every time boundary as documented', async t => {
  const { verify, clock } = openVerifier()
  const start = clock.now()
  const at = (ms: number): string => new Date(start + ms).toISOString()
  const cases: [string, number, number, object][] = [
    ['issued as far ahead as the skew allows', 60_000, 360_000, { ok: true }],
    [
      'issued 1 ms further ahead',
      60_001,
      360_000,
      { code: 'invalid_signature', reason: 'issued in the future' },
    ],
    ['1 ms before its end', -299_999, 1, { ok: true }],
    ['exactly at its end', -300_000, 0, { code: 'invalid_signature', reason: 'expired' }],
    ['with the longest window', -1, 599_999, { ok: true }],
    ['with a window 1 ms too long', -1, 600_000, { code: 'invalid_request', field: 'expiresAt' }],
    ['that ends as it begins', 1, 1, { code: 'invalid_request', field: 'expiresAt' }],
    ['that ends before it begins', 2, 1, { code: 'invalid_request', field: 'expiresAt' }],
  ]
  for (const [title, from, to, expected] of cases) {
    const fields = fieldsFor(wallet, clock, { issuedAt: at(from), expiresAt: at(to) })
    t.match(await verify(await signed(wallet, fields)), expected, title)
  }
})

t.test('denies a statement that was issued before the nonces were restored', async t => {
  const { verify, clock } = openVerifier({ issuedFrom: async () => clock.now() })
  const issued = async (ms: number) =>
    signed(
      wallet,
      fieldsFor(wallet, clock, {
        issuedAt: new Date(clock.now() + ms).toISOString(),
        expiresAt: new Date(clock.now() + 300_000).toISOString(),
      }),
    )
  t.match(await verify(await issued(-1)), { ok: false, reason: 'issued before the nonces were restored' })
  t.match(await verify(await issued(0)), { ok: true })
})

t.test('denies a statement that expired while recovery was waiting, without using its nonce', async t => {
  const { verify, clock } = openVerifier()
  const slow = openVerifier({
    clock,
    recover: async () => {
      clock.advance(300_000)
      const { recoverWithJs } = await import('@gatewright/signature-verifier/internal')
      return recoverWithJs(...lastCall)
    },
  })
  let lastCall: Parameters<NonNullable<VerifierOptions['recover']>> = [new Uint8Array(), new Uint8Array(), 0]
  const proof = await signed(wallet, fieldsFor(wallet, clock))
  const spy = openVerifier({
    clock,
    recover: (...call) => {
      lastCall = call
      return undefined
    },
  })
  await spy.verify({ ...proof, template: 'A' })
  t.match(await slow.verify(proof), { ok: false, reason: 'expired while waiting' })
  clock.advance(-300_000)
  t.match(await verify(proof), { ok: true })
})

t.test('returns the same 401 for every cause and reports the cause for the event only', async t => {
  const { verify, clock } = openVerifier()
  const good = await signed(wallet, fieldsFor(wallet, clock))
  const issuedAt = new Date(clock.now() + 60_001).toISOString()
  const expiresAt = new Date(clock.now()).toISOString()
  const wrong = [
    { ...good, signature: (await signed(newWallet(), good)).signature },
    { ...good, signature: '0x' },
    await signed(wallet, { ...good, issuedAt }),
    await signed(wallet, { ...good, issuedAt: new Date(clock.now() - 1).toISOString(), expiresAt }),
  ]
  await verify(good)
  const verdicts = await Promise.all([...wrong, good].map(proof => verify(proof)))
  const shown = verdicts.map(verdict => JSON.stringify({ ...verdict, reason: undefined }))
  t.equal(new Set(shown).size, 1)
  t.equal(new Set(verdicts.map(verdict => !verdict.ok && verdict.reason)).size, 4)
})

t.test('names the wrong field of a malformed proof', async t => {
  const { verify, clock } = openVerifier()
  const good = await signed(wallet, fieldsFor(wallet, clock))
  const wrong: Record<string, unknown[]> = {
    address: [
      undefined,
      7,
      '0x',
      `${wallet.address}0`,
      wallet.address.slice(2),
      `0X${wallet.address.slice(2)}`,
      mistyped(wallet.address),
    ],
    signature: [
      undefined,
      7,
      '',
      '0x0',
      '0xzz',
      good.signature.slice(2),
      ` ${good.signature}`,
      `0x${'00'.repeat(16_385)}`,
    ],
    nonce: [undefined, 'short-1', 'a'.repeat(129), 'has space', 'has\nline', 'umlaut-äöü', '12345678\n'],
    issuedAt: [
      undefined,
      0,
      '',
      '2026-01-01',
      '2026-01-01T00:00:00',
      '2026-01-01 00:00:00Z',
      `${good.issuedAt}\n`,
    ],
    expiresAt: [undefined, null, 'tomorrow', '2026-02-30T00:00:00Z', '2026-01-01T24:00:00Z'],
    connector: [7, {}, 'a\nb', 'a\rb', 'x'.repeat(121), '\ufeffa', 'a\u00a0b', 'a\u202eb', '\ud800', 'tab\t'],
    walletLabel: [[], 'a\u0000b', 'a\u2028b', 'a\u0085b'],
    chainId: [-1, 1.5, Number.NaN, 2 ** 53, true, '1\n', '\u00a01'],
    template: [1, 'C'],
    message: [1, 'x'.repeat(8193), textA(good).slice(1)],
  }
  for (const [field, values] of Object.entries(wrong)) {
    for (const [index, value] of values.entries()) {
      const verdict = await verify({ ...good, [field]: value })
      t.match(verdict, { ok: false, code: 'invalid_request', status: 400, field }, `${field}, case ${index}`)
    }
  }
  t.match(await verify(good), { ok: true }, 'and none of it spent the nonce')
})

t.test('never throws on any request body', async t => {
  const { verify, clock } = openVerifier({ recover: () => undefined })
  const good = await signed(wallet, fieldsFor(wallet, clock))
  const names = Object.keys({ ...good, connector: 1, chainId: 1, walletLabel: 1, template: 1, message: 1 })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...names), fc.anything(), async (name, value) => {
      const verdict = await verify({ ...good, [name]: value })
      return !verdict.ok
    }),
    { numRuns: randomCases(500) },
  )
  await fc.assert(fc.asyncProperty(fc.anything(), async value => !(await verify(value as WalletProof)).ok))
  t.pass('neither in one field nor as a whole')
})

t.test('throws the fault of its nonce storage and never allows without a claim', async t => {
  const nonces = memoryNonces({ capacity: 1 })
  const { verify, clock } = openVerifier({ nonces })
  t.match(await verify(await signed(wallet, fieldsFor(wallet, clock))), { ok: true })
  const next = await signed(wallet, fieldsFor(wallet, clock))
  await t.rejects(verify(next), { name: 'Fault', code: 'ERR_STORE_FULL' })
})

t.test('rejects bad options by name, at construction', async t => {
  const nonces = memoryNonces()
  const wrong: [RegExp, object][] = [
    [/service/, { service: '' }],
    [/service/, { service: ' ' }],
    [/service/, { service: 'two\nlines' }],
    [/service/, { service: 'two\r' }],
    [/service/, { service: 'x'.repeat(65) }],
    [/service/, { service: undefined }],
    [/windowMs/, { windowMs: 999 }],
    [/windowMs/, { windowMs: Number.NaN }],
    [/domain/, { domain: 'https://app.example.com' }],
    [/domain/, { domain: '' }],
    [/keccak256/, { keccak256: 'sha3' }],
    [/nonces/, { nonces: undefined }],
    [/clock/, { clock: {} }],
    [/recover/, { recover: 1 }],
    [/templates/, { templates: [] }],
  ]
  for (const [message, option] of wrong) {
    const options = { service: 'Gatewright', nonces, ...option } as unknown as VerifierOptions
    t.throws(() => createVerifier(options), { name: 'TypeError', message }, String(message))
  }
})
