import { createHash } from 'node:crypto'
import { gate } from '@gatewright/http'
import { fetchGate } from '@gatewright/http/fetch'
import { scopeCatalogue } from '@gatewright/kernel'
import { createAliases } from '@gatewright/legacy-alias-router'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose'
import t from 'tap'
import { bench, claims, session, sign } from '../../scope-guard/issuer.ts'

const scopes = scopeCatalogue(['cards.read', 'cards.write'])

async function setUp(origin: string | readonly string[] = 'https://api.test') {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const jwk = await exportJWK(publicKey)
  const { guard, clock, key } = await bench({ dpop: { nonces: memoryNonces(), origin } })
  const token = await sign(key, {
    ...claims(session(clock.now())),
    cnf: { jkt: await calculateJwkThumbprint(jwk) },
  })
  const ath = createHash('sha256').update(token).digest('base64url')
  let proofs = 0
  const proof = (htm: string, htu: string): Promise<string> =>
    new SignJWT({ jti: `p${++proofs}`, htm, htu, ath, iat: clock.now() / 1000 })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
      .sign(privateKey)
  const aliases = createAliases({ paths: [{ mode: 'serve', from: '/old-cards', to: '/cards' }] })
  const reasons: (string | undefined)[] = []
  const api = gate({
    guard,
    scopes,
    aliases,
    trustProxy: ['10.0.0.1'],
    observe: ({ reason }) => void reasons.push(reason),
  })
  const bind = fetchGate(api, { body: 'stream', peer: () => '10.0.0.1' })
  const cards = bind.handle(api.guarded({ operation: 'cards.list', allOf: ['cards.read'] }), () => ({
    status: 200,
  }))
  const send = async (url: string, dpop: readonly string[], more: Record<string, string> = {}) => {
    const headers = new Headers({ authorization: `DPoP ${token}`, ...more })
    for (const each of dpop) headers.append('dpop', each)
    const response = await cards(new Request(url, { headers }), undefined)
    return [response.status, response.status === 200 ? '' : reasons.at(-1)]
  }
  return { send, proof }
}

t.test('the gate passes proof, method and URL of the request to the guard', async t => {
  const { send, proof } = await setUp()
  const url = 'https://api.test/cards'
  t.same(await send(`${url}?page=2`, [await proof('GET', url)]), [200, ''])
  t.same(await send(url, [await proof('POST', url)]), [401, 'the DPoP proof is for another method'])
  t.same(await send(url, [await proof('GET', 'https://api.test/other')]), [
    401,
    'the DPoP proof is for another URL',
  ])
  t.same(await send(url, [await proof('GET', url), await proof('GET', url)]), [
    401,
    'more than one DPoP proof',
  ])
  t.same(await send(url, []), [401, 'the token is bound, and the request has no DPoP proof'])
})

t.test('a proof that was made for another host is denied, whatever Host it is relayed with', async t => {
  const { send, proof } = await setUp()
  const relayed = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
  for (const at of ['https://evil.example/cards', 'https://api.test/cards']) {
    t.same(await send(at, [await proof('GET', 'https://evil.example/cards')], relayed), [
      401,
      'the DPoP proof is for another URL',
    ])
  }
})

t.test(
  'a proof for an origin of the option passes, whatever Host and scheme the server receives',
  async t => {
    const { send, proof } = await setUp(['https://api.test', 'https://pay.test'])
    const hosts = [
      '10.0.0.7:8080',
      'evil.example',
      'x/quotes?',
      'x\\quotes?',
      'me@x',
      'a b',
      'x:99999',
      '[::',
      '',
    ]
    for (const host of hosts) {
      for (const origin of ['https://api.test', 'https://pay.test']) {
        const proofs = [await proof('GET', `${origin}/cards`)]
        t.same(await send('http://10.0.0.7:8080/cards', proofs, { host }), [200, ''], host)
      }
      const stolen = [await proof('GET', 'https://api.test/quotes')]
      t.same(await send('https://api.test/cards', stolen, { host }), [
        401,
        'the DPoP proof is for another URL',
      ])
    }
  },
)

t.test('the path of a proof is the one before old names are translated', async t => {
  const { send, proof } = await setUp()
  const at = 'https://api.test/old-cards'
  t.same(await send(at, [await proof('GET', at)]), [200, ''])
  t.same(await send(at, [await proof('GET', 'https://api.test/cards')]), [
    401,
    'the DPoP proof is for another URL',
  ])
})
