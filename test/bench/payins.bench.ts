// What a pay-in costs end to end: session, limits, idempotency, caps, rows and history, on each set of stores.
import { randomUUID } from 'node:crypto'
import { hostStoresEnv, type HostStores } from '../harness/host-stores.ts'
import { compareServers, type ServerSide } from './http.ts'

const module = new URL('./servers/payin.child.js', import.meta.url)
const stores = async (kind: HostStores) => ({ kind, ...(await hostStoresEnv(kind)) })
const opened = await Promise.all((['postgres', 'embedded', 'postgres+redis'] as const).map(stores))

function side(name: string, kind: string, env: Record<string, string>): ServerSide {
  return {
    name,
    module,
    args: [kind, JSON.stringify(env)],
    request: () => ({
      path: '/user/v1/subscriptions/payin',
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      body: '{"amountCents":2500}',
    }),
  }
}
const [postgres, embedded, redis] = opened.map(({ kind, env }) => side(kind, 'host', env)) as [
  ...[ServerSide, ServerSide, ServerSide],
]
const database = opened[0]?.env as Record<string, string>
for (const connections of [1, 16]) {
  await compareServers(`payins: created end to end, ${connections} at a time`, {
    ours: { ...postgres },
    peers: [embedded, redis, side('the same rows by bare node-pg', 'bare', database)],
    requests: connections === 1 ? 300 : 800,
    connections,
  })
}
for (const { drop } of opened) await drop()
