import { createGuard } from '@gatewright/scope-guard'
import { decodeProtectedHeader } from 'jose'
import t from 'tap'
import { ALGORITHMS, startProvider } from './oidc-provider.ts'

const rule = { operation: 'payments.create', allOf: ['payments.write'] }

t.test('a guard that knows only issuer and audience accepts the tokens of a real provider', async t => {
  const { issuer, audience, token, requested } = await startProvider(t)
  const guard = createGuard({ issuer, audience })
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
  t.same(
    requested.filter(path => path !== '/token'),
    ['/.well-known/openid-configuration', '/jwks'],
  )
})
