import { renderEip4361, requestDigest } from '@gatewright/signature-verifier'
import t from 'tap'
import { createSiweMessage, generateSiweNonce, type SiweMessage } from 'viem/siwe'
import { newWallet, openTestHost, statementOf, templateA, type HttpResponse } from '../../../harness/host.ts'

const host = await openTestHost(t, { PUBLIC_URL: 'https://api.example.com' })
const bootstrap = (body: object): Promise<HttpResponse> => host.send('/user/v1/bootstrap', { body })

t.test('accepts a Sign-In with Ethereum message for its own domain only', async t => {
  const wallet = newWallet()
  const signed = async (domain: string): Promise<object> => {
    const statement = { ...statementOf(wallet.address), nonce: crypto.randomUUID().replaceAll('-', '') }
    const { address, nonce, issuedAt, expiresAt: expirationTime } = statement
    const message = renderEip4361({
      domain,
      uri: `https://${domain}`,
      address,
      chainId: '1',
      nonce,
      issuedAt,
      expirationTime,
    })
    return { ...statement, chainId: 1, message, signature: await wallet.signMessage({ message }) }
  }
  t.equal((await bootstrap(await signed('api.example.com'))).status, 200)
  t.match(await bootstrap(await signed('evil.example.com')), {
    status: 401,
    body: { error: 'invalid_signature' },
  })
})

t.test('accepts a v2 statement only for the request that it signs', async t => {
  const wallet = newWallet()
  const statement = statementOf(wallet.address)
  const grant = { scopes: ['users.read'], sessionTtlSeconds: 60 }
  const lines = templateA(statement).replace(' Bootstrap', ' Bootstrap v2')
  const message = `${lines}\nDomain: api.example.com\nChain ID: 1\nRequest: ${requestDigest(grant)}`
  const proof = { ...statement, chainId: 1, message, signature: await wallet.signMessage({ message }) }
  const wider = await bootstrap({ ...proof, ...grant, scopes: ['users.read', 'keys.write'] })
  t.match(wider, { status: 401, body: { error: 'invalid_signature' } })
  const response = await bootstrap({ ...proof, ...grant })
  t.match(response, { status: 200, body: { scopes: ['users.read'] } })
})

/** What a SIWE client signs and sends: a message and its signature, and nothing else. */
async function siwe(changes: Partial<SiweMessage> = {}): Promise<{ message: string; signature: string }> {
  const wallet = newWallet()
  const issuedAt = new Date()
  const message = createSiweMessage({
    address: wallet.address,
    chainId: 1,
    domain: 'api.example.com',
    uri: 'https://api.example.com/',
    nonce: generateSiweNonce(),
    version: '1',
    issuedAt,
    expirationTime: new Date(issuedAt.getTime() + 300_000),
    ...changes,
  })
  return { message, signature: await wallet.signMessage({ message }) }
}

t.test('accepts the body of SIWE clients once: a message with an expiry, and its signature', async t => {
  const body = await siwe()
  t.match(await bootstrap(body), { status: 200, body: { userApiKey: String } })
  t.match(await bootstrap(body), { status: 401, body: { error: 'invalid_signature' } })
  const endless = await siwe({ expirationTime: undefined })
  t.match(await bootstrap(endless), { status: 400, body: { error: 'invalid_request', field: 'expiresAt' } })
})

t.test(
  'reports to observe which field of a message was wrong, and sends clients one text for every cause',
  async t => {
    const digest = `urn:gatewright:request:sha256:${'0'.repeat(64)}`
    const wrong = { domain: 'evil.example.com', uri: 'https://evil.example.com/', resources: [digest] }
    const responses = await Promise.all(
      Object.entries(wrong).map(async ([name, value]) => bootstrap(await siwe({ [name]: value }))),
    )
    for (const response of responses) {
      t.equal(response.status, 401)
      t.same(response.body, responses[0]?.body)
    }
    const reasons = host.decisions.slice(-3).map(({ reason }) => reason)
    for (const field of ['domain', 'uri', 'requestDigest']) {
      t.ok(reasons.includes(`message and request differ in ${field}`), field)
    }
  },
)

t.test('makes no key from the signature of a sign-in, whichever body it is sent in', async t => {
  const wallet = newWallet()
  const { body } = await host.send('/auth/challenge', { body: { address: wallet.address } })
  const message = body['message'] as string
  const signature = await wallet.signMessage({ message })
  t.match(await bootstrap({ message, signature }), { status: 401, body: { error: 'invalid_signature' } })
  t.equal(host.decisions.at(-1)?.reason, 'message and request differ in requestDigest')
})
