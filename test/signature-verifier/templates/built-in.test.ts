import { createHash } from 'node:crypto'
import {
  bootstrap,
  createVerifier,
  lineTemplate,
  renderEip4361,
  REQUEST_RESOURCE,
  requestDigest,
  type Eip4361Message,
} from '@gatewright/signature-verifier'
import { agentBootstrap, signInWithEthereum } from '#packages/signature-verifier/dist/templates/built-in.js'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { dateTime } from '../arbitraries.ts'
import { fieldsFor, newWallet, openVerifier, signed, textA, textB, type Fields } from '../wallets.ts'

const wallet = newWallet()
const domain = 'app.example.com'
const grant = { scopes: ['users.read'], sessionTtlSeconds: 900 }
const digest = requestDigest(grant) as string
const context = { requestDigest: digest }

/** Template v2 as a client writes it. */
function textV2(fields: Fields, { host = domain, request = digest } = {}): string {
  const head = textA(fields).replace('Bootstrap', 'Bootstrap v2')
  return [head, `Domain: ${host}`, `Chain ID: ${fields.chainId}`, `Request: ${request}`].join('\n')
}

/** An EIP-4361 text with the same values as the fields, except for `changes`. */
function text4361(fields: Fields, changes: Partial<Eip4361Message> = {}): string {
  const { nonce, issuedAt, expiresAt: expirationTime } = fields
  const uri = `https://${domain}/login`
  const message = { domain, address: wallet.address, uri, chainId: '1', nonce, issuedAt, expirationTime }
  return renderEip4361({ ...message, statement: 'Sign in to get a key.', ...changes })
}

const nonce = (): string => crypto.randomUUID().replaceAll('-', '')

/** Signs the text that `write` makes and sends it as `message`. */
async function sent(fields: Fields, write: (fields: Fields) => string) {
  return { ...(await signed(wallet, fields, write)), message: write(fields) }
}

t.test('verifies template v2, which binds domain, chain and request', async t => {
  const { verify, clock } = openVerifier({ domain })
  const proof = await sent(fieldsFor(wallet, clock, { chainId: 8453 }), textV2)
  t.match(await verify(proof, context), {
    ok: true,
    value: { template: 'v2', binds: ['chain', 'domain', 'request'] },
  })
})

t.test('denies a v2 text that differs from the host or the request', async t => {
  const { verify, clock } = openVerifier({ domain })
  const fields = fieldsFor(wallet, clock, { chainId: 1 })
  const elsewhere = await sent(fields, fields => textV2(fields, { host: 'evil.example' }))
  t.match(await verify(elsewhere, context), { status: 401, reason: 'message and request differ in domain' })
  const other = { ...grant, scopes: ['users.read', 'withdrawals.write'] }
  const more = { requestDigest: requestDigest(other) as string }
  const proof = await sent(fields, textV2)
  t.match(await verify(proof, more), { status: 401, reason: 'message and request differ in requestDigest' })
  t.match(await verify({ ...proof, chainId: 2 }, context), { status: 401, reason: /chainId/ })
  t.match(await verify({ ...proof, nonce: nonce() }, context), { status: 401, reason: /nonce/ })
  t.match(await verify({ ...proof, message: undefined }, context), { status: 401 }, 'v2 needs the text')
  t.match(await verify({ ...proof, template: 'v2', message: null }, context), { field: 'message' })
  t.match(await verify(proof), { status: 400, field: 'message' }, 'a host that gives no digest accepts none')
  t.match(await verify(proof, context), { ok: true })
})

t.test('verifies EIP-4361 with and without the chain as a field', async t => {
  const { verify, clock } = openVerifier({ domain })
  for (const extra of [{}, { chainId: 1 }, { chainId: 'eip155:1' }, { chainId: '1', template: 'eip4361' }]) {
    const fields = fieldsFor(wallet, clock, { nonce: nonce(), ...extra })
    const verdict = await verify(await sent(fields, text4361))
    t.match(verdict, { ok: true, value: { template: 'eip4361', binds: ['chain', 'domain'] } })
  }
})

t.test('binds the request of an EIP-4361 text when a resource names its digest', async t => {
  const { verify, clock } = openVerifier({ domain })
  const bound = (fields: Fields): string => text4361(fields, { resources: [REQUEST_RESOURCE + digest] })
  const proof = await sent(fieldsFor(wallet, clock, { nonce: nonce() }), bound)
  t.match(await verify(proof), { reason: 'message and request differ in requestDigest' })
  t.match(await verify(proof, { requestDigest: '0'.repeat(64) }), { reason: /requestDigest/ })
  t.match(await verify(proof, context), { ok: true, value: { binds: ['chain', 'domain', 'request'] } })
  const none = (fields: Fields): string => text4361(fields, { resources: [`${REQUEST_RESOURCE}undefined`] })
  const unbound = await sent(fieldsFor(wallet, clock, { nonce: nonce() }), none)
  t.match(await verify(unbound), { reason: /requestDigest/ }, 'nothing is bound where the host has no digest')
})

t.test('denies an EIP-4361 text that differs from host or fields, whoever signed it', async t => {
  const { verify, clock } = openVerifier({ domain })
  const later = new Date(clock.now() + 60_001).toISOString()
  const cases: [string, Partial<Eip4361Message>][] = [
    ['domain', { domain: 'evil.example' }],
    ['domain', { domain: `${domain}:8443` }],
    ['domain', { domain: 'APP.example.com' }],
    ['uri', { uri: 'https://evil.example/login' }],
    ['uri', { uri: `https://${domain}@evil.example/` }],
    ['uri', { uri: `https://user@${domain}/login` }],
    ['uri', { uri: `https://user:secret@${domain}/login` }],
    ['uri', { uri: `https://evil.example/${domain}` }],
    ['uri', { uri: 'urn:app.example.com' }],
    ['uri', { scheme: 'http' }],
    ['address', { address: newWallet().address }],
    ['chainId', { chainId: '5' }],
    ['nonce', { nonce: 'anothernonce' }],
    ['issuedAt', { issuedAt: later }],
    ['expiresAt', { expirationTime: later }],
    ['expiresAt', { expirationTime: undefined }],
    ['requestDigest', { resources: [REQUEST_RESOURCE + digest, `${REQUEST_RESOURCE}00`] }],
  ]
  for (const [field, changes] of cases) {
    const fields = fieldsFor(wallet, clock, { nonce: nonce(), chainId: 1 })
    const proof = await sent(fields, fields => text4361(fields, changes))
    const reason = `message and request differ in ${field}`
    t.match(await verify(proof, context), { ok: false, status: 401, reason })
  }
})

t.test('applies Not Before with the skew, exactly at its boundary', async t => {
  const { verify, clock } = openVerifier({ domain })
  for (const [ahead, expected] of [
    [60_000, { ok: true }],
    [60_001, { status: 401, reason: 'not valid yet' }],
  ] as const) {
    const notBefore = new Date(clock.now() + ahead).toISOString()
    const fields = fieldsFor(wallet, clock, { nonce: nonce() })
    t.match(await verify(await sent(fields, fields => text4361(fields, { notBefore }))), expected)
  }
})

t.test('accepts the text of template A as message, and denies any other text under its name', async t => {
  const { verify, clock } = openVerifier()
  const proof = await sent(fieldsFor(wallet, clock), textA)
  t.match(await verify({ ...proof, message: `${textA(proof)}\n` }), { status: 400, field: 'message' })
  t.match(await verify(proof), { ok: true, value: { template: 'A' } })
})

t.test('denies a message with any one byte changed', async t => {
  const { verify, clock } = openVerifier({ domain })
  const fields = fieldsFor(wallet, clock, { nonce: nonce(), chainId: 1 })
  for (const write of [text4361, textV2, textA]) {
    const proof = await sent(fields, write)
    const bytes = Buffer.from(proof.message)
    for (let index = 0; index < bytes.length; index++) {
      // A flipped bit, the other case, and the neighbour: each byte becomes three others.
      for (const mask of new Set([1 << (index % 7), 0x20, 0x01])) {
        const changed = Buffer.from(bytes)
        changed[index] = (bytes[index] as number) ^ mask
        const verdict = await verify({ ...proof, message: changed.toString() }, context)
        if (verdict.ok) t.fail(`byte ${index} of ${write.name}`)
      }
    }
    t.match(
      await verify(proof, context),
      write === text4361 ? { ok: true } : { ok: false },
      'one nonce, one use',
    )
  }
})

t.test('denies a signature with any one bit flipped', async t => {
  const { verify, clock } = openVerifier()
  const proof = await signed(wallet, fieldsFor(wallet, clock, { template: 'A' }))
  const good = Buffer.from(proof.signature.slice(2), 'hex')
  for (let bit = 0; bit < good.length * 8; bit++) {
    const bad = Buffer.from(good)
    bad[bit >> 3] = (good[bit >> 3] as number) ^ (1 << (bit % 8))
    const verdict = await verify({ ...proof, signature: `0x${bad.toString('hex')}` })
    if (verdict.ok || verdict.code !== 'invalid_signature') t.fail(`bit ${bit}`)
  }
  t.match(await verify(proof), { ok: true })
})

const line = fc.string({
  unit: fc.constantFrom(...Array.from('abc XYZ.-_/|\u{1f45b}é"')),
  minLength: 1,
  maxLength: 20,
})

t.test('law: a line template matches the text it renders for these fields and for no others', async t => {
  const template = lineTemplate('own', [
    '{service} wants a key',
    'Address: {address}',
    'Nonce: {nonce}',
    'Issued At: {issuedAt}',
    'Expires At: {expiresAt}',
    '',
    'For: {purpose|nothing}',
    'Team: {team}',
  ])
  const fields = fc.record({
    service: line,
    address: line,
    nonce: line,
    issuedAt: dateTime,
    expiresAt: dateTime,
    purpose: fc.option(line, { nil: undefined }),
    team: line,
  })
  fc.assert(
    fc.property(fields, fields, (one, other) => {
      const rendered = template.read({ fields: one, message: undefined })
      if (rendered.kind !== 'match') return false
      const again = template.read({ fields: one, message: rendered.text })
      const foreign = template.read({ fields: { ...other, service: one.service }, message: rendered.text })
      const same =
        JSON.stringify({ ...one, purpose: one.purpose ?? 'nothing' }) ===
        JSON.stringify({ ...other, service: one.service, purpose: other.purpose ?? 'nothing' })
      return again.kind === 'match' && again.text === rendered.text && (same || foreign.kind === 'mismatch')
    }),
    { numRuns: randomCases(1000) },
  )
  t.pass('for 1000 pairs of statements')
})

t.test("accepts a template of a team's own, with a field of its own", async t => {
  const invoice = lineTemplate('invoice', [
    '{service} Invoice Access',
    'Address: {address}',
    'Invoice: {invoice}',
    'Nonce: {nonce}',
    'Issued At: {issuedAt}',
    'Expires At: {expiresAt}',
  ])
  const { verify, clock } = openVerifier({ templates: [invoice] })
  const fields = { ...fieldsFor(wallet, clock), invoice: 'INV-7' }
  const write = (fields: Fields): string =>
    textA(fields).replace('Bootstrap', 'Invoice Access').replace('\nNonce', '\nInvoice: INV-7\nNonce')
  const proof = await signed(wallet, fields, write)
  t.match(await verify({ ...proof, invoice: 'INV-8' }), { status: 401 })
  t.match(await verify({ ...proof, invoice: 'INV-7\nNonce: x' }), { status: 400, field: 'invoice' })
  t.match(await verify({ ...proof, invoice: undefined }), { status: 400, field: 'invoice' })
  t.match(await verify(proof), { ok: true, value: { template: 'invoice' } })
})

t.test('tries two field templates without a hint, and a third only by its name', async t => {
  const third = lineTemplate('third', [
    '{service} Third',
    'Address: {address}',
    'Nonce: {nonce}',
    'Issued At: {issuedAt}',
    'Expires At: {expiresAt}',
  ])
  const { verify, clock } = openVerifier({ templates: [bootstrap, agentBootstrap, third] })
  const fields = fieldsFor(wallet, clock)
  const proof = await signed(wallet, fields, fields => textA(fields).replace('Bootstrap', 'Third'))
  t.match(await verify(proof), { status: 401 })
  t.match(await verify({ ...proof, template: 'third' }), { ok: true })
})

t.test('denies template lines that allow two readings or lack a required field', async t => {
  const four = ['Address: {address}', 'Nonce: {nonce}', 'Issued At: {issuedAt}', 'Expires At: {expiresAt}']
  const wrong = [
    four.slice(1),
    four.slice(0, 3),
    [...four, 'Two: {one}{two}'],
    [...four, 'Middle {purpose} text'],
    [...four, 'Again: {nonce}'],
    [...four, 'Broken: {'],
    [...four, 'two\nlines'],
  ]
  for (const lines of wrong) t.throws(() => lineTemplate('own', lines), { name: 'TypeError' })
  const options = { service: 'Gatewright', nonces: memoryNonces(), templates: [signInWithEthereum] }
  t.throws(() => createVerifier(options), /domain must be given for template "eip4361"/)
  t.throws(() => createVerifier({ ...options, templates: [bootstrap, bootstrap] }), /templates/)
})

t.test('says what is wrong with the lines of a template', t => {
  const four = ['Address: {address}', 'Nonce: {nonce}', 'Issued At: {issuedAt}', 'Expires At: {expiresAt}']
  for (const [line, message] of [
    ['Two: {one}{two}', /a line must be one plain line with at most one \{field\}, at its end, got "Two: /],
    ['two\nlines', /a line must be one plain line/],
    ['Again: {nonce}', /has a field twice/],
  ] as const) {
    t.throws(() => lineTemplate('own', [...four, line]), { name: 'TypeError', message })
  }
  t.throws(() => lineTemplate('own', four.slice(1)), { message: /must have a \{address\} line/ })
  t.end()
})

t.test('template B binds the chain where the client names one, and template A binds nothing', t => {
  const fields = { service: 'S', address: 'a', nonce: 'n', issuedAt: 'i', expiresAt: 'e' }
  const read = (template: typeof bootstrap, chainId?: string) =>
    template.read({ fields: { ...fields, ...(chainId && { chainId }) }, message: undefined })
  t.match(read(agentBootstrap, '1'), { kind: 'match', chainId: '1' })
  t.match(read(agentBootstrap, 'eip155:1'), { kind: 'match', text: /Chain ID: eip155:1\n/, chainId: '1' })
  t.same((read(agentBootstrap, '1') as { binds: unknown }).binds, ['chain'])
  t.same((read(agentBootstrap) as { binds: unknown }).binds, [])
  const ofA = read(bootstrap, '1') as { binds: unknown; chainId: unknown }
  t.same([ofA.binds, ofA.chainId], [[], undefined])
  t.end()
})

t.test('an EIP-4361 text without a resource for the request binds chain and domain only', t => {
  const { address } = wallet
  const fields = {
    address,
    nonce: 'abcdefgh',
    issuedAt: '2026-01-01T00:00:00Z',
    expiresAt: '2026-01-01T00:05:00Z',
  }
  const message = text4361(fields)
  const match = signInWithEthereum.read({ fields: { ...fields, domain }, message })
  t.equal(match.kind, 'match')
  t.same((match as { binds: unknown }).binds, ['chain', 'domain'])
  t.end()
})

t.test('digests every kind of JSON value as RFC 8785 writes it', t => {
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
  const policy = { b: [1, true, null, 'é'], a: { nested: 0.5, none: [] } }
  const expected = '{"policy":{"a":{"nested":0.5,"none":[]},"b":[1,true,null,"é"]},"scopes":["x"]}'
  t.equal(requestDigest({ scopes: ['x'], policy }), sha256(expected))
  t.end()
})

t.test('digests values nested 31 deep in a request, and none deeper', t => {
  const lists = (depth: number): unknown => (depth === 0 ? 1 : [lists(depth - 1)])
  const objects = (depth: number): unknown => (depth === 0 ? 1 : { a: objects(depth - 1) })
  for (const nested of [lists, objects]) {
    t.type(requestDigest({ policy: nested(31) }), 'string')
    t.equal(requestDigest({ policy: nested(32) }), undefined)
  }
  t.end()
})

t.test('digests a request by its canonical JSON, members in any order', async t => {
  t.equal(
    requestDigest({}),
    '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    'SHA-256 of {}',
  )
  const policy = { limits: [{ window: 'day', maxCents: 5, operations: ['a'] }], allowCardSecrets: false }
  const turned = { allowCardSecrets: false, limits: [{ operations: ['a'], maxCents: 5, window: 'day' }] }
  t.equal(requestDigest({ policy, scopes: ['a'] }), requestDigest({ scopes: ['a'], policy: turned }))
  t.not(requestDigest({ scopes: ['a', 'b'] }), requestDigest({ scopes: ['b', 'a'] }))
  t.not(requestDigest({ scopes: [] }), requestDigest({}))
  t.equal(requestDigest({ scopes: [], nonce: 'x' } as object), requestDigest({ scopes: [] }))
})

t.test('returns no digest for values without a canonical form', async t => {
  const deep: unknown[] = []
  let inner = deep
  for (let depth = 0; depth < 10_000; depth++) inner.push((inner = []))
  for (const policy of [deep, { a: Number.NaN }, { a: '\ud800' }, { '\ud800': 1 }, [undefined], { a: 1n }]) {
    t.equal(requestDigest({ policy }), undefined)
  }
})

t.test(
  'completes a proof of only message and signature with what the message of any template states',
  async t => {
    const { verify, clock } = openVerifier({ domain })
    const texts: [string, (fields: Fields) => string][] = [
      ['A', textA],
      ['B', textB],
      ['v2', textV2],
      ['eip4361', text4361],
    ]
    for (const [template, write] of texts) {
      const fields = fieldsFor(wallet, clock, { nonce: nonce(), chainId: 1, connector: 'injected' })
      const { message, signature } = await sent(fields, write)
      t.match(
        await verify({ message, signature }, context),
        {
          ok: true,
          value: { template, wallet: wallet.address.toLowerCase(), expiresAt: clock.now() + 300_000 },
        },
        template,
      )
      const again = await verify({ ...fields, message, signature }, context)
      t.match(
        again,
        { status: 401, reason: 'nonce used before' },
        `${template}: both bodies are one statement`,
      )
    }
  },
)

t.test('keeps the fields that are beside a message, and denies those that differ from it', async t => {
  const { verify, clock } = openVerifier({ domain })
  const fields = fieldsFor(wallet, clock, { nonce: nonce() })
  const { message, signature } = await sent(fields, text4361)
  const only = { message, signature }
  t.match(await verify({ ...only, chainId: 2 }), {
    status: 401,
    reason: 'message and request differ in chainId',
  })
  t.match(await verify({ ...only, template: 'A' }), { status: 400, field: 'message' })
  t.match(
    await verify({ ...only, address: wallet.address }),
    { status: 400, field: 'nonce' },
    'ours is whole',
  )
  t.match(await verify({ ...only, ok: true, value: {} }), { ok: true, value: { template: 'eip4361' } })
})

t.test('names what is wrong with a message that is sent alone', async t => {
  const { verify, clock } = openVerifier({ domain })
  const send = async (changes: Partial<Eip4361Message>, signer = wallet, moment = clock.now()) => {
    const fields = fieldsFor(wallet, clock, {
      nonce: nonce(),
      issuedAt: new Date(moment).toISOString(),
      expiresAt: new Date(moment + 300_000).toISOString(),
    })
    const message = text4361(fields, changes)
    return verify({ message, signature: await signer.signMessage({ message }) }, context)
  }
  const differs = (field: string) => ({ status: 401, reason: `message and request differ in ${field}` })
  t.match(await send({ expirationTime: undefined }), { status: 400, field: 'expiresAt', message: /expiry/ })
  t.match(await send({ domain: 'evil.example' }), differs('domain'))
  t.match(await send({ uri: 'https://evil.example/login' }), differs('uri'))
  t.match(await send({ resources: [`${REQUEST_RESOURCE}${'0'.repeat(64)}`] }), differs('requestDigest'))
  t.match(await send({}, newWallet()), { status: 401, reason: /^not signed by this key/ })
  t.match(await send({}, wallet, clock.now() - 300_000), { status: 401, reason: 'expired' })
  t.match(await send({ expirationTime: new Date(clock.now() + 700_000).toISOString() }), {
    status: 400,
    field: 'expiresAt',
  })
  t.match(await send({}), { ok: true })
  const signature = '0x00'
  for (const message of [
    '',
    'x',
    'x'.repeat(8193),
    7,
    {},
    text4361(fieldsFor(wallet, clock)).replace(' wants', '  wants'),
  ])
    t.match(await verify({ message, signature }), { status: 400 })
  const own = lineTemplate('own', [
    'Own',
    'Address: {address}',
    'Nonce: {nonce}',
    'Issued At: {issuedAt}',
    'Expires At: {expiresAt}',
  ])
  const { fieldsOf: _, ...without } = own
  for (const [template, status] of [
    [own, undefined],
    [without, 400],
  ] as const) {
    const { verify, clock } = openVerifier({ templates: [template] })
    const fields = fieldsFor(wallet, clock)
    const { message, signature } = await sent(fields, fields =>
      textA(fields).replace('Gatewright Bootstrap', 'Own'),
    )
    const verdict = await verify({ message, signature })
    t.equal(verdict.ok ? undefined : verdict.status, status, 'templates without fieldsOf need the fields')
  }
})
