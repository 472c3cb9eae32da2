import { scopeCatalogue } from '@gatewright/kernel'
import { gate, type ProtectedResource } from '@gatewright/http'
import { fetchGate } from '@gatewright/http/fetch'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

const scopes = scopeCatalogue(['cards.read', 'cards.write'])
const described = { resource: 'https://api.example', authorizationServers: ['https://login.example'] }

async function served(protectedResource: ProtectedResource, more: object = {}) {
  const { guard, bearer } = await bench()
  const api = gate({ guard, scopes, protectedResource, ...more })
  const bind = fetchGate(api, { body: 'stream', peer: 'none' })
  const cards = bind.handle(api.guarded({ operation: 'cards.delete', allOf: ['cards.write'] }), () => ({
    status: 200,
  }))
  const metadata = api.resourceMetadata()
  const challenge = async (authorization?: string): Promise<[number, string | null]> => {
    const headers = authorization === undefined ? {} : { authorization }
    const response = await cards(new Request('https://api.example/cards', { headers }), undefined)
    return [response.status, response.headers.get('www-authenticate')]
  }
  return { api, challenge, bearer, path: metadata.path, serve: bind.handle(metadata) }
}

t.test('serves the metadata at the well-known path of the resource', async t => {
  for (const [resource, path] of [
    ['https://api.example', '/.well-known/oauth-protected-resource'],
    ['https://api.example/', '/.well-known/oauth-protected-resource'],
    ['https://api.example/v1/pay', '/.well-known/oauth-protected-resource/v1/pay'],
    ['http://127.0.0.1:3000', '/.well-known/oauth-protected-resource'],
  ] as const) {
    const { serve, path: at } = await served({ ...described, resource })
    t.equal(at, path)
    const response = await serve(new Request(`https://api.example${path}`), undefined)
    t.equal(response.status, 200)
    t.match(response.headers.get('content-type'), 'application/json')
    t.same(await response.json(), {
      resource,
      authorization_servers: ['https://login.example'],
      scopes_supported: ['cards.read', 'cards.write'],
      bearer_methods_supported: ['header'],
    })
  }
  const { serve } = await served({ ...described, scopes: ['openid'] })
  t.match(await (await serve(new Request('https://api.example/'), undefined)).json(), {
    scopes_supported: ['openid'],
  })
})

t.test('says which DPoP proofs the guard accepts, and whether it requires them', async t => {
  const metadataOf = async (dpop: object | undefined): Promise<Record<string, unknown>> => {
    const given = dpop && {
      dpop: { nonces: { claim: async () => true }, origin: 'https://api.example', ...dpop },
    }
    const { guard } = await bench(given)
    const api = gate({ guard, scopes, protectedResource: described })
    const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
    const response = await handle(api.resourceMetadata())(new Request('https://api.example/'), undefined)
    return (await response.json()) as Record<string, unknown>
  }
  t.notOk('dpop_signing_alg_values_supported' in (await metadataOf(undefined)))
  const accepted = await metadataOf({})
  t.equal(accepted['dpop_bound_access_tokens_required'], false)
  t.match(accepted['dpop_signing_alg_values_supported'], ['ES256', 'ES384'])
  t.equal((await metadataOf({ required: true }))['dpop_bound_access_tokens_required'], true)
})

t.test('every 401 and the 403 of a missing scope name the metadata, and no other response does', async t => {
  const { challenge, bearer } = await served({ ...described, resource: 'https://api.example/v1' })
  const url = 'resource_metadata="https://api.example/.well-known/oauth-protected-resource/v1"'
  t.same(await challenge(), [401, `Bearer realm="api", scope="cards.write", ${url}`])
  t.same(await challenge('Bearer a.b.c'), [
    401,
    `Bearer realm="api", error="invalid_token", error_description="The access token is not valid", scope="cards.write", ${url}`,
  ])
  const [status, insufficient] = await challenge(await bearer({ scopes: [] }))
  t.equal(status, 403)
  t.equal(insufficient, `Bearer realm="api", error="insufficient_scope", scope="cards.write", ${url}`)
  t.same(await challenge(await bearer()), [200, null])
})

t.test(
  'a credential of the team gets the metadata in its Bearer challenge, and other schemes are left alone',
  async t => {
    const { guard } = await bench()
    const denial = { ok: false, code: 'unauthorized', status: 401, message: 'no' } as const
    for (const [headers, expected] of [
      [undefined, 'Bearer resource_metadata="https://api.example/.well-known/oauth-protected-resource"'],
      [[['WWW-Authenticate', 'Basic realm="x"']], 'Basic realm="x"'],
      [
        [['www-authenticate', 'DPoP']],
        'DPoP resource_metadata="https://api.example/.well-known/oauth-protected-resource"',
      ],
    ] as const) {
      const own = async () => (headers ? { ...denial, headers } : denial)
      const api = gate({ guard, scopes, protectedResource: described, credentials: { own } })
      const bind = fetchGate(api, { body: 'stream', peer: 'none' })
      const route = api.guardedBy('own', { operation: 'cards.list', allOf: [] })
      const response = await bind.handle(route, () => ({ status: 200 }))(
        new Request('https://api.example/'),
        undefined,
      )
      t.equal(response.headers.get('www-authenticate'), expected)
    }
  },
)

t.test('refuses a wrong description, and a route without one', async t => {
  const wrong = (changes: object, message: RegExp): void =>
    void t.throws(() => gate({ protectedResource: { ...described, ...changes } }), {
      name: 'TypeError',
      message,
    })
  wrong({ resource: 'api' }, /resource must be an https: URL without fragment, got "api"/)
  wrong({ resource: 'http://api.example' }, /must be an https: URL/)
  wrong({ resource: 'https://api.example/#a' }, /without fragment/)
  wrong({ resource: 7 }, /got 7/)
  wrong({ authorizationServers: 'https://login.example' }, /authorizationServers must be an array/)
  wrong({ authorizationServers: ['login'] }, /authorizationServers must be an array of issuer URLs/)
  wrong({ issuer: 'x' }, /unknown option "issuer"/)
  t.throws(() => gate().resourceMetadata(), /needs the option protectedResource/)
})
