import { createGuard, remoteKeys } from '@gatewright/scope-guard'
import { decodeProtectedHeader } from 'jose'
import t from 'tap'
import { ALGORITHMS, startProvider } from './oidc-provider.ts'

const rule = { operation: 'payments.create', allOf: ['payments.write'] }

t.test('the default guard accepts the access tokens of a real provider, of every algorithm', async t => {
  const { issuer, audience, token } = await startProvider(t)
  const guard = createGuard({ issuer, audience, keys: remoteKeys(new URL('/jwks', issuer)) })
  for (const alg of ALGORITHMS) {
    const text = await token(alg, 'payments.write')
    t.match(decodeProtectedHeader(text), { alg, typ: 'at+jwt' })
    t.match(
      await guard.check({ authorization: `Bearer ${text}` }, rule),
      { ok: true, value: { session: { keyId: `client-${alg}`, scopes: ['payments.write'] } } },
      alg,
    )
    t.match(await guard.check({ authorization: `Bearer ${await token(alg, 'payments.read')}` }, rule), {
      code: 'insufficient_scope',
    })
  }
})
