import { DEFAULT_RATE_LIMITS } from '#packages/host/dist/config/rate-limits.js'
import { randomBytes, randomUUID } from 'node:crypto'
import { bearer, request, type WalletUser } from '../harness/host.ts'
import type { BenchHost } from './bench-host.ts'
import type { Request } from './load.ts'

/** One kind of request that the whole host is measured by. */
export interface HostLine {
  readonly name: string
  readonly path: string
  /** What the request proves itself with. A junk token is part of each request. */
  readonly credential: 'none' | 'session' | 'key' | 'junk token'
  /** What differs from a plain GET. `index` counts from 0 in every sample. */
  readonly more?: (index: number) => Omit<Request, 'path'>
  /** After how many requests they repeat. Default 1; Infinity: never. */
  readonly period?: number
  /** Default 200. */
  readonly status?: number
  /** Requests of one sample: so many that most of them run compiled code. A host compiles that of a mint within 2000 of them. */
  readonly requests: number
}

const JSON_TYPE = { 'content-type': 'application/json' }

/** The idempotency key whose pay-in exists before anything is measured. */
const REPLAYED = 'bench-replayed-pay-in'

/** A small pay-in into the balance. */
const payin = (key: string): Omit<Request, 'path'> => ({
  method: 'POST',
  headers: { ...JSON_TYPE, 'idempotency-key': key },
  body: '{"amountCents":2500}',
})

/** A token of an unknown signing key, about as long as a real one. No two are the same. */
function junkToken(): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const head = part({ alg: 'EdDSA', typ: 'at+jwt', kid: randomUUID() })
  return `${head}.${part({ sub: randomBytes(180).toString('hex') })}.${randomBytes(64).toString('base64url')}`
}

/** Limits as a host has them, out of reach of a load. */
export const RATE_LIMITS: string = JSON.stringify(
  Object.fromEntries(Object.keys(DEFAULT_RATE_LIMITS).map(name => [name, 1_000_000_000])),
)

/** The plans are held in memory and the token's check is cached: this read asks no store. */
export const GUARDED_READ = '/user/v1/subscriptions/plans'
export const BALANCES = '/user/v1/balances'
export const LEGACY_BALANCES = '/consumer/v1/balances'
const PAYIN = '/user/v1/subscriptions/payin'

const ALL_LINES: readonly HostLine[] = [
  { name: 'health check', path: '/healthz', credential: 'none', requests: 4000 },
  { name: 'unknown path', path: '/user/v1/nothing', credential: 'none', status: 404, requests: 4000 },
  { name: 'guarded read, no I/O (plans)', path: GUARDED_READ, credential: 'session', requests: 4000 },
  { name: 'balances on SQLite', path: BALANCES, credential: 'session', requests: 3000 },
  { name: 'balances, legacy path', path: LEGACY_BALANCES, credential: 'session', requests: 3000 },
  {
    name: 'junk token',
    path: BALANCES,
    credential: 'junk token',
    status: 401,
    requests: 3000,
    more: () => ({ headers: { authorization: `Bearer ${junkToken()}` } }),
    period: 500,
  },
  {
    name: 'replayed pay-in',
    path: PAYIN,
    credential: 'session',
    requests: 2000,
    more: () => payin(REPLAYED),
  },
  {
    name: 'mint a session',
    path: '/user/v1/sessions',
    credential: 'key',
    requests: 1500,
    more: () => ({ method: 'POST', headers: JSON_TYPE, body: '{}' }),
  },
  {
    name: 'pay-in on SQLite',
    path: PAYIN,
    credential: 'session',
    requests: 300,
    more: () => payin(randomUUID()),
    period: Infinity,
  },
]

/** The names, or parts of names, of the lines to measure, separated by commas. Default: all. */
const CHOSEN = (process.env['BENCH_LINES'] ?? '').split(',')

/** Every line, or those of `BENCH_LINES`, cheapest first. */
export const hostLines: readonly HostLine[] = ALL_LINES.filter(({ name }) =>
  CHOSEN.some(chosen => name.includes(chosen)),
)

/** One request of a line, without the proof that a user of the host has. */
export function requestOf({ path, more }: Pick<HostLine, 'path' | 'more'>, index: number): Request {
  return { path, ...more?.(index) }
}

/** The header field that a credential comes in. A junk token is in its request. */
export const FIELD_OF: Readonly<Record<HostLine['credential'], string | undefined>> = {
  none: undefined,
  'junk token': undefined,
  session: 'authorization',
  key: 'x-user-key',
}

/** Both credentials of a user, each in its field. */
export function proofs({ token, key }: WalletUser): Readonly<Record<string, string>> {
  return { ...bearer(token), 'x-user-key': key }
}

/** Makes the pay-in whose request is repeated. */
export async function prepare({ host, user }: BenchHost): Promise<void> {
  const { headers, ...asked } = payin(REPLAYED)
  const proven = { ...headers, ...bearer(user.token) }
  const { status } = await request(host.url, PAYIN, { ...asked, headers: proven })
  if (status !== 200) throw new Error(`the pay-in to be repeated got ${status}`)
}
