// Sessions that are bound to a key by DPoP call tools: the proof is for the POST to the URL of the server, and is used up by one message.
import { createHash } from 'node:crypto'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import { calculateJwkThumbprint, SignJWT, type JWK } from 'jose'
import t from 'tap'
import type { GuardOptions } from '@gatewright/scope-guard'
import { signingKey } from '../../scope-guard/issuer.ts'
import { createWorld } from '../world.ts'
import { answerOf, callOf, createShop, messageOf, type Sent } from './shop.ts'

const origin = 'https://shop.example'
const key = await signingKey('ES256', 'client')
const { kty, crv, x, y } = key.jwk
const jwk = { kty, crv, x, y } as JWK
let proofs = 0

/** A shop behind DPoP, and the fields of a client with a bound token. */
async function bound(options: Partial<GuardOptions['dpop']> = {}) {
  const world = createWorld()
  const dpop = { nonces: memoryNonces(), origin, ...options }
  const shop = createShop({
    world: { ...world, options: { ...world.options, guard: { ...world.options.guard, dpop } as never } },
  })
  const scopes = 'payments.read payments.write'
  const token = await world.token(scopes, 'auth0|ann', { cnf: { jkt: await calculateJwkThumbprint(jwk) } })
  const fields = async (claims: Readonly<Record<string, unknown>> = {}) => {
    const proof = await new SignJWT({
      jti: `proof-${++proofs}`,
      htm: 'POST',
      htu: `${origin}/mcp`,
      iat: Math.floor(world.options.clock.now() / 1000),
      ath: createHash('sha256').update(token).digest('base64url'),
      ...claims,
    })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
      .sign(key.privateKey)
    return { authorization: `DPoP ${token}`, dpop: proof }
  }
  return { ...shop, token, fields }
}

const args = { orderId: 'order-1', amountCents: 500 }

for (const era of ['modern', 'legacy'] as const) {
  const pay = (headers: Sent['headers']): Request =>
    callOf('payments.create', args, { era, ...(headers ? { headers } : {}) })

  t.test(`${era}: a proof for the POST to the URL of the server calls a tool once`, async t => {
    const { serve, fields, world } = await bound()
    const headers = await fields()
    const first = await answerOf(await serve(pay(headers)))
    t.match(first.result?.content[0]?.text, /^paid /)
    const replayed = await serve(pay(headers))
    t.equal(replayed.status, 401)
    t.match(replayed.headers.get('www-authenticate'), /^DPoP .*error="invalid_dpop_proof"/)
    const again = await answerOf(await serve(pay(await fields())))
    t.same(again.result?.content, first.result?.content)
    const list = await answerOf(await serve(messageOf('tools/list', {}, { era, headers: await fields() })))
    t.equal(list.result?.tools?.length, 3)
    t.equal(world.processor.calls.length, 1)
  })

  t.test(`${era}: a message that calls no tool uses its proof up, too`, async t => {
    const { serve, fields } = await bound()
    const headers = await fields()
    const list = async () => (await serve(messageOf('tools/list', {}, { era, headers }))).status
    t.equal(await list(), 200)
    t.equal(await list(), 401)
  })

  t.test(`${era}: a proof for another method, URL or token, or none, calls nothing`, async t => {
    const { serve, fields, token, world } = await bound()
    const wrong: Readonly<Record<string, Sent['headers']>> = {
      'another method': await fields({ htm: 'GET' }),
      'another path': await fields({ htu: `${origin}/payments` }),
      'another origin': await fields({ htu: 'https://evil.example/mcp' }),
      'another token': await fields({ ath: createHash('sha256').update('x').digest('base64url') }),
      'no proof': { authorization: `DPoP ${token}` },
      'as a bearer token': { authorization: `Bearer ${token}` },
    }
    for (const [name, headers] of Object.entries(wrong)) {
      const response = await serve(pay(headers))
      t.equal(response.status, 401, name)
      t.match(response.headers.get('www-authenticate'), /^DPoP /, name)
    }
    t.equal(world.processor.calls.length, 0)
  })

  t.test(`${era}: a guard that asks for nonces gives one, and a proof with it calls the tool`, async t => {
    const { serve, fields, world } = await bound({ nonceSecret: 'a secret of this API for nonces, 32+' })
    const asked = await serve(pay(await fields()))
    t.equal(asked.status, 401)
    t.match(asked.headers.get('www-authenticate'), /error="use_dpop_nonce"/)
    const nonce = asked.headers.get('dpop-nonce')
    const paid = await answerOf(await serve(pay(await fields({ nonce }))))
    t.match(paid.result?.content[0]?.text, /^paid /)
    t.equal(world.processor.calls.length, 1)
  })
}
