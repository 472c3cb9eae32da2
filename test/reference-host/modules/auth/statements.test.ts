import { renderEip4361, requestDigest } from '@gatewright/signature-verifier'
import t from 'tap'
import { newWallet, startTestHost, statementOf, templateA, type Answer } from '../../../harness/host.ts'

const host = await startTestHost({ PUBLIC_URL: 'https://api.example.com' })
t.teardown(() => host.close())
const bootstrap = (body: object): Promise<Answer> => host.send('/user/v1/bootstrap', { body })

t.test('accepts a Sign-In with Ethereum message for its own domain only', async t => {
  const wallet = newWallet()
  const signed = async (domain: string): Promise<object> => {
    const statement = { ...statementOf(wallet.address), nonce: crypto.randomUUID().replaceAll('-', '') }
    const { address, nonce, issuedAt, expiresAt: expirationTime } = statement
    const message = renderEip4361({
      ...{ domain, uri: `https://${domain}`, address, chainId: '1', nonce, issuedAt, expirationTime },
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
  const answer = await bootstrap({ ...proof, ...grant })
  t.match(answer, { status: 200, body: { scopes: ['users.read'] } })
})
