// One host: a guard that follows the issuer's feed, and a client that never stops asking with one token.
import { fromPgPool } from '@gatewright/kernel/sql'
import { createGuard, localKeys, type RevocationFeed } from '@gatewright/scope-guard'
import { sqlRevocationFeed } from '@gatewright/scope-guard/postgres'
import { redisRevocationFeed } from '@gatewright/scope-guard/redis'
import type { JWK } from 'jose'
import pg from 'pg'
import { createClient } from 'redis'
import { openPostgresPool, openRedis } from '../../harness/stores.ts'
import { AUDIENCE, ISSUER } from '../issuer.ts'

/** What the parent sends: the issuer's keys once, then a token per round. */
export type Order = { readonly keys: JWK[] } | { readonly authorization: string }
/** What the host reports per round: when the last request that passed began, and how often the store was queried. */
export type Report = 'ready' | 'passing' | { readonly lastPassedAt: number; readonly asked: number }

const [backend, name, push] = process.argv.slice(2) as [string, string, 'push' | 'poll']
const report = (value: Report): unknown => process.send?.(value)

async function openFeed(): Promise<RevocationFeed> {
  if (backend === 'Redis') {
    const { connections } = await openRedis(1)
    const own = createClient({ url: process.env['TEST_REDIS_URL'] as string })
    own.on('error', () => {})
    await own.connect()
    const subscribe = async (channel: string, listener: () => void) => {
      await own.subscribe(channel, listener)
      return () => own.unsubscribe(channel)
    }
    return redisRevocationFeed(connections[0]!, {
      prefix: `${name}:`,
      ...(push === 'push' ? { subscribe } : {}),
    })
  }
  const own = new pg.Client({ connectionString: process.env['TEST_POSTGRES_URL'] as string })
  await own.connect()
  const subscribe = async (channel: string, listener: () => void) => {
    own.on('notification', listener)
    await own.query(`listen ${channel}`)
    return () => own.query(`unlisten ${channel}`)
  }
  const db = fromPgPool(await openPostgresPool(name, 1))
  return sqlRevocationFeed(db, push === 'push' ? { subscribe } : {})
}

let keys: JWK[] = []
let asked = 0
const guard = createGuard({
  issuer: ISSUER,
  audience: AUDIENCE,
  keys: localKeys(() => ({ keys })),
  limits: [],
  policies: async ids => ids.map(() => ({})),
  revocation: {
    mode: 'feed',
    feed: await openFeed(),
    // Only a stale feed asks; the parent wants to hear of it.
    isLive: async () => {
      asked++
      return true
    },
  },
})
await guard.start()

/** Asks every millisecond or so until the guard says no. */
async function follow(authorization: string): Promise<void> {
  let lastPassedAt = 0
  asked = 0
  for (;;) {
    const startedAt = Date.now()
    const verdict = await guard.check({ authorization }, { operation: 'cards.list', allOf: [] })
    if (!verdict.ok) break
    if (lastPassedAt === 0) report('passing')
    lastPassedAt = startedAt
    await new Promise(resolve => setTimeout(resolve, 1))
  }
  report({ lastPassedAt, asked })
}

process.on('message', (order: Order) => {
  if ('keys' in order) keys = order.keys
  else void follow(order.authorization)
})
process.once('disconnect', () => process.exit())
report('ready')
