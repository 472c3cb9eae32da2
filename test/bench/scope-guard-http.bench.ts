// Guarded servers against bare ones and against what teams use today, each on its own framework, by CPU.
import { compareServers } from './http.ts'
import { benchTokens } from './tokens.ts'

const plain = await benchTokens(500)
// Hono's jwt() takes no type but JWT.
const typed = await benchTokens(500, { typ: 'JWT' })

const module = new URL('./servers/guard.child.js', import.meta.url)
const side = (name: string, kind: string) => {
  const { tokens, jwk } = kind.startsWith('hono') ? typed : plain
  const request = (index: number) => ({
    path: '/r30/cards',
    headers: { authorization: `Bearer ${tokens[index % tokens.length]}` },
  })
  return { name, module, args: [kind, JSON.stringify(jwk)], request, period: tokens.length }
}

const guarded = side('guarded: limit, fields, chain of two', 'koa-guard-full')
await compareServers('scope-guard: Koa with @koa/router', {
  ours: guarded,
  peers: [{ ...side('bare', 'koa-bare'), minRatio: 0.85 }],
  requests: 40_000,
})
await compareServers('scope-guard: Koa, equal checks', {
  ours: guarded,
  peers: [{ ...side('koa-jwt, ES256 KeyObject', 'koa-jwt'), minRatio: 1 }],
  requests: 8000,
})
const frameworks = [
  ['Fastify', 'fastify', '@fastify/jwt with its cache'],
  ['Express', 'express', 'express-oauth2-jwt-bearer'],
  ['Hono', 'hono', 'hono jwt'],
] as const
for (const [framework, kind, peer] of frameworks) {
  await compareServers(`scope-guard: ${framework}, equal checks`, {
    ours: side('guarded', `${kind}-guard`),
    peers: [{ ...side(peer, `${kind}-peer`), minRatio: 1 }, side('bare', `${kind}-bare`)],
    requests: 6000,
  })
}
