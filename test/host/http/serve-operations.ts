// Serves operations over a guard and limits that record what they are asked.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { allow, scopeCatalogue, type Rule, type Verdict } from '@gatewright/kernel'
import { manualClock } from '@gatewright/kernel/testing'
import { createAliases } from '@gatewright/legacy-alias-router'
import type { Decision } from '@gatewright/http'
import type { Middleware } from 'koa'
import type { Test } from 'tap'
import { createApp } from '#packages/host/dist/http/app.js'
import { aliasTable } from '#packages/reference-host/dist/product/aliases.js'

export type Operation = Parameters<typeof createApp>[0][number]
type Services = Parameters<typeof createApp>[1]

export const EMPTY = { type: 'object', properties: {} }
export const SUCCESS = allow({ data: { a: 1 }, summary: 'Done.' })
export const sample = (change: object): Operation =>
  ({
    id: 'things.get',
    title: 'Get',
    surface: 'user',
    method: 'GET',
    paths: ['/user/v1/things'],
    credential: 'session',
    scopes: [],
    response: EMPTY,
    example: { response: {} },
    handle: async () => SUCCESS,
    ...change,
  }) as unknown as Operation

export const KEY = {
  id: 'key_1',
  accountId: 'acc_1',
  surface: 'user',
  version: 1,
  lineageId: 'lin_1',
  ancestry: [] as string[],
}
type Limit = (bucket: string) => Promise<Verdict<readonly (readonly [string, string])[]>>

interface SetUp {
  readonly key?: object
  readonly requireHttps?: boolean
  /** The name of the limit that is used up. */
  readonly full?: string
  /** Other services. */
  readonly more?: object
  readonly middleware?: readonly Middleware[]
}

/** Serves operations over a guard and limits that record what they are asked. */
export async function serveOperations(
  t: Test,
  table: readonly Operation[],
  { key = KEY, requireHttps = false, full, more = {}, middleware = [] }: SetUp = {},
) {
  const rules: Rule[] = []
  const buckets: string[] = []
  const decisions: Decision[] = []
  const session = { accountId: 'acc_1', keyId: 'key_s', sessionId: 'ses_1', surface: 'user' }
  const guard = {
    prepare: () => {},
    check: async (_facts: object, rule: Rule) => {
      rules.push(rule)
      return allow({ headers: [], session, evidence: {} })
    },
    authorize: async (used: object) => allow({ headers: [], session: used, evidence: {} }),
    // Of a request that took 100 ms, as on a busy machine.
    recheck: async (used: object) => allow(used),
  }
  const limit =
    (name: string): Limit =>
    async bucket => {
      buckets.push(`${name} ${bucket}`)
      return name === full
        ? { ok: false, code: 'rate_limited', status: 429, message: 'later' }
        : allow([['RateLimit', name]])
    }
  const services = {
    guard,
    keyGuard: guard,
    issuer: { authenticateKey: async () => allow(key) },
    limits: {
      bootstrap: limit('bootstrap'),
      tokenCheck: limit('tokenCheck'),
      document: limit('document'),
      mint: limit('mint'),
      mintOfAccount: limit('mintOfAccount'),
      failedKeys: { runWithinLimit: async (_: string, run: () => unknown) => run(), charge: async () => {} },
    },
    webTokens: { authenticate: () => allow({ webSession: { accountId: 'acc_1', sessionId: 'web_1' } }) },
    operationRules: new Map(),
    operationTitles: new Map(),
    providerMessages: async () => allow({ provider: 'acme', messageId: 'msg_1' }),
    validated: async () => true,
    isHeld: async () => false,
    isPaused: async () => false,
    directUserKey: false,
    requireHttps,
    aliases: createAliases(aliasTable),
    clock: manualClock(1_767_225_600_999),
    serviceName: 'Acme',
    idempotency: { run: async () => SUCCESS, runUnrecorded: async () => SUCCESS },
    spendStorage: () => ({}),
    trustProxy: ['127.0.0.1/32'],
    scopes: scopeCatalogue(['cards.read', 'cards.write']),
    observe: (decision: Decision) => decisions.push(decision),
    ...more,
  }
  const failures: unknown[] = []
  const app = createApp(table, services as unknown as Services, {
    middleware,
    report: error => failures.push(error),
    pages: {
      respond: (method, path) =>
        method === 'GET' && path === '/page'
          ? { status: 405, headers: [['X-Page', 'a']], body: Buffer.from('page') }
          : undefined,
      respondNotFound: () => undefined,
    },
  })
  const server = createServer(app.listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  const send = async (
    path: string,
    {
      method = 'GET',
      headers = {},
      body,
    }: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { 'x-forwarded-for': '2001:db8:1:2::9', 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.text()
    const parsed = (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>
    return { status: response.status, headers: response.headers, text, body: parsed }
  }
  return { send, rules, buckets, decisions, failures, drain: () => app.drain() }
}
