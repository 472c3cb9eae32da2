// What the ground under the other benches costs: node:http, Koa and @koa/router without anything of ours, and
// the kernel functions that are on every request's path.
import { keyDigest, toClaims, type Session } from '@gatewright/kernel'
import { fromClaims } from '@gatewright/kernel/internal'
import { deepEqual } from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { compare } from './harness.ts'
import { compareServers } from './http.ts'

const tokens = Array.from({ length: 500 }, () => randomBytes(375).toString('base64url'))
const token = (index: number): string => tokens[index % tokens.length] as string

await compare('kernel: digest of a 500 character key', {
  ours: { name: 'keyDigest', run: index => keyDigest(token(index)) },
  peers: [
    {
      name: 'sha256 over UTF-8',
      run: index => createHash('sha256').update(token(index)).digest('base64url'),
    },
  ],
  operations: 200_000,
})

const session: Session = {
  sessionId: 'ses_1',
  accountId: 'acc_1',
  userId: null,
  walletAddress: '0x52908400098527886e0f7030069857d2e4169ee7',
  surface: 'user',
  keyId: 'key_1',
  keyVersion: 3,
  policyIds: ['pol_1', 'pol_2'],
  scopes: ['cards.read', 'subscriptions.read', 'subscriptions.write'],
  issuedAt: 1_767_225_600_000,
  expiresAt: 1_767_229_200_000,
}
const claims = { ...toClaims(session) }
const text = JSON.stringify(claims)
deepEqual(fromClaims(claims), session)
deepEqual(keyDigest(token(0)), createHash('sha256').update(token(0)).digest('base64url'))

await compare('kernel: session from claims', {
  ours: { name: 'fromClaims', run: () => fromClaims(claims) },
  peers: [{ name: 'JSON.parse of the same claims', run: () => JSON.parse(text) }],
  operations: 1_000_000,
})

const module = new URL('./servers/baseline.child.js', import.meta.url)
const request = (index: number): { path: string; headers: Record<string, string> } => ({
  path: '/r30/cards',
  headers: { authorization: `Bearer ${token(index)}` },
})

await compareServers('bare servers', {
  ours: { name: 'Koa + @koa/router', module, args: ['router'], request, period: 500 },
  peers: [
    { name: 'Koa', module, args: ['koa'], request, period: 500 },
    { name: 'node:http', module, args: ['http'], request, period: 500 },
  ],
  requests: 10_000,
})
