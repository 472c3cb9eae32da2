import { gatewright as onExpress } from 'gatewright/express'
import { gatewright as onFastify } from 'gatewright/fastify'
import { gatewright as onFetch } from 'gatewright/fetch'
import { gatewright as onHono } from 'gatewright/hono'
import { gatewright as onKoa } from 'gatewright/koa'
import { mcp } from 'gatewright/mcp'
import { memoryStore } from 'gatewright/memory'
import { gatewright as onNext } from 'gatewright/next'
import { postgresStore } from 'gatewright/postgres'
import { redisStore } from 'gatewright/redis'
import { sqliteStore } from 'gatewright/sqlite'
import { openTelemetryObserver } from 'gatewright/otel'
import { testGateway } from 'gatewright/testing'
import Database from 'libsql'
import type { Constructor } from './constructors.ts'

const valid = { issuer: 'https://issuer.test', audience: 'https://api.test', store: memoryStore() }
const withFetch = { ...valid, peer: 'none' }
const gw = onExpress(valid)
const pool = {
  query: async () => ({ rows: [] }),
  connect: async () => Promise.reject(new Error('never asked')),
}
const redis = { sendCommand: async () => null }
const handler = (): { status: number } => ({ status: 200 })

/** The functions of the package `gatewright` that take options, and those of what it returns. */
export const gatewrightConstructors: readonly Constructor[] = [
  ...[onExpress, onKoa, onFastify].map(call => ({ where: 'gatewright', valid, call })),
  ...[onFetch, onHono, onNext].map(call => ({ where: 'gatewright', valid: withFetch, call })),
  { where: 'testGateway', valid: {}, call: (options: never) => testGateway(valid, options) },
  { where: 'openTelemetryObserver', valid: {}, call: openTelemetryObserver },
  { where: 'mcp', valid: { peer: 'none' }, call: (options: never) => mcp(gw, options) },
  { where: 'memoryStore', valid: {}, call: memoryStore },
  { where: 'redisStore', valid: {}, call: (options: never) => redisStore(redis, options) },
  { where: 'postgresStore', valid: {}, call: (options: never) => postgresStore(pool, options) },
  {
    where: 'sqliteStore',
    valid: {},
    call: (options: never) => sqliteStore(new Database(':memory:'), options),
  },
  { where: 'a.open', valid: {}, call: (options: never) => gw.open('a.open', options, handler) },
  { where: 'a.read', valid: { scope: [] }, call: (options: never) => gw.read('a.read', options, handler) },
  { where: 'a.write', valid: { scope: [] }, call: (options: never) => gw.write('a.write', options, handler) },
]
