import type { RedisTarget } from './storage/redis.ts'

/** One named secret; the newest signs, the others still verify. */
export interface NamedSecret {
  readonly id: string
  readonly secret: string
}

/** Limits of contract section 11, per minute. `off` is for the sandbox. */
export type RateLimits = 'off' | Readonly<Record<keyof typeof DEFAULT_LIMITS, number>>

/** Everything the environment decides. Read once, here only. */
export interface Config {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** One line, pasted into the statements that wallets sign. */
  readonly serviceName: string
  readonly environment: 'sandbox'
  /** The address clients use. It is the issuer and audience of session tokens; unset, a fixed URN is. */
  readonly publicUrl: string | undefined
  /** Where the embedded database, its lock and generated secrets live. */
  readonly dataDir: string
  /** Unset: generated into `dataDir` on the first start. */
  readonly keyPeppers: readonly NamedSecret[] | undefined
  /** 32 bytes that encrypt signing keys at rest. Unset: generated into `dataDir` on the first start. */
  readonly signingKeyEncryptionKey: Uint8Array | undefined
  readonly rateLimits: RateLimits
  /** Postgres. Unset: the embedded database. */
  readonly databaseUrl: string | undefined
  /** Redis for nonces and rate limits. Unset: the database and this process. */
  readonly redis: RedisTarget | undefined
  /** Existing clients send the user key itself on user operations; off by default. */
  readonly directUserKey: boolean
  readonly logLevel: (typeof LOG_LEVELS)[number]
}

/** The configuration, or every problem with it: one line each, starting with the variable's name. */
export type ConfigResult =
  | { readonly ok: true; readonly value: Config }
  | { readonly ok: false; readonly problems: readonly string[] }

const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug'] as const

type Env = Readonly<Record<string, string | undefined>>
type Read<T> = (text: string) => T | string

const DEFAULT_LIMITS = {
  guardedPerKeyPerMinute: 600,
  writesPerSessionPerMinute: 120,
  bootstrapPerAddressPerMinute: 30,
  failedCredentialsPerAddressPerMinute: 60,
  mintsPerKeyPerMinute: 60,
}
/** Chosen by design, but served by no adapter of this version; starting without them would mislead. */
const UNSUPPORTED = [
  'DATABASE_URL',
  'REDIS_URL',
  'REDIS_CLUSTER_URLS',
  'SIGNING_KEYS',
  'RPC_URLS',
  'TRUST_PROXY',
]

const port: Read<{ value: number }> = text =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65_535
    ? { value: Number(text) }
    : 'must be an integer from 0 to 65535'

const oneLine: Read<{ value: string }> = text =>
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  text.trim() === text && text.length <= 100 && !/[\u0000-\u001f\u007f\u2028\u2029]/.test(text)
    ? { value: text }
    : 'must be one line of 1 to 100 characters without surrounding spaces'

const httpUrl: Read<{ value: string }> = text => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search || url.hash) {
    return 'must be an http or https origin, such as https://api.example.com'
  }
  return { value: url.origin }
}

const sandbox: Read<{ value: 'sandbox' }> = text => {
  if (text === 'sandbox') return { value: text }
  return text === 'live'
    ? 'live needs a trusted proxy for HTTPS, which this version cannot be told of: use sandbox'
    : 'must be sandbox or live'
}

const peppers: Read<{ value: readonly NamedSecret[] }> = text => {
  const entries = text.split(',').map(entry => /^([A-Za-z0-9_-]{1,32}):(.{32,})$/.exec(entry.trim()))
  const named = entries.flatMap(match =>
    match ? [{ id: match[1] as string, secret: match[2] as string }] : [],
  )
  const distinct = new Set(named.map(({ id }) => id)).size === entries.length
  return named.length === entries.length && distinct
    ? { value: named }
    : 'must be id:secret pairs joined by commas, newest first, each id once, each secret at least 32 characters'
}

const bytes32: Read<{ value: Uint8Array }> = text => {
  const bytes = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64')
  return bytes.length === 32 ? { value: bytes } : 'must be 32 bytes, as 64 hex digits or base64'
}

const limits: Read<{ value: RateLimits }> = text => {
  if (text === 'off') return { value: 'off' }
  const names = Object.keys(DEFAULT_LIMITS)
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {}
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return `must be off or a JSON object of ${names.join(', ')}`
  }
  for (const [name, limit] of Object.entries(given)) {
    if (!names.includes(name)) return `has no limit "${name}": known are ${names.join(', ')}`
    if (!Number.isSafeInteger(limit) || limit < 1) return `${name} must be an integer of at least 1`
  }
  return { value: { ...DEFAULT_LIMITS, ...given } }
}

const urlOf =
  (...protocols: string[]): Read<{ value: string }> =>
  text =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol)
      ? { value: text }
      : `must be a URL that starts with ${protocols.join('// or ')}//`

const redisUrl = urlOf('redis:', 'rediss:')

const redisUrls: Read<{ value: readonly string[] }> = text => {
  const urls = text.split(',').map(url => url.trim())
  const wrong = urls.map(redisUrl).find(read => typeof read === 'string')
  return typeof wrong === 'string' ? `${wrong}, several joined by commas` : { value: urls }
}

const onOff: Read<{ value: boolean }> = text =>
  text === 'on' || text === 'off' ? { value: text === 'on' } : 'must be on or off'

const logLevel: Read<{ value: Config['logLevel'] }> = text => {
  const level = LOG_LEVELS.find(name => name === text)
  return level ? { value: level } : `must be one of ${LOG_LEVELS.join(', ')}`
}

/** Reads the configuration from environment variables. An empty variable counts as unset. */
export function readConfig(env: Env): ConfigResult {
  const problems: string[] = []
  const read = <T, D>(name: string, fallback: D, parse: Read<{ value: T }>): T | D => {
    const text = env[name]
    if (text === undefined || text === '') return fallback
    const result = parse(text)
    if (typeof result !== 'string') return result.value
    problems.push(`${name} ${result}`)
    return fallback
  }
  const text: Read<{ value: string }> = value => ({ value })
  const value: Config = {
    host: read('HOST', '127.0.0.1', text),
    port: read('PORT', 3000, port),
    serviceName: read('SERVICE_NAME', 'Gatewright Sandbox', oneLine),
    environment: read('GATEWRIGHT_ENV', 'sandbox', sandbox),
    publicUrl: read('PUBLIC_URL', undefined, httpUrl),
    dataDir: read('DATA_DIR', '.data', text),
    keyPeppers: read('KEY_PEPPERS', undefined, peppers),
    signingKeyEncryptionKey: read('SIGNING_KEY_ENCRYPTION_KEY', undefined, bytes32),
    rateLimits: read('RATE_LIMITS', DEFAULT_LIMITS, limits),
    databaseUrl: read('DATABASE_URL', undefined, urlOf('postgres:', 'postgresql:')),
    redis: redisTarget(
      read('REDIS_URL', undefined, redisUrl),
      read('REDIS_CLUSTER_URLS', undefined, redisUrls),
    ),
    directUserKey: read('DIRECT_USER_KEY', false, onOff),
    logLevel: read('LOG_LEVEL', 'info', logLevel),
  }
  problems.push(...conflicts(env))
  return problems.length === 0 ? { ok: true, value } : { ok: false, problems }
}

function redisTarget(
  url: string | undefined,
  clusterUrls: readonly string[] | undefined,
): RedisTarget | undefined {
  if (url !== undefined) return { url }
  return clusterUrls && { clusterUrls }
}

/** Problems that no variable has by itself. */
function conflicts(env: Env): string[] {
  const problems = UNSUPPORTED.filter(name => env[name]).map(
    name => `${name} does nothing in this version: unset it`,
  )
  if (env['REDIS_URL'] && env['REDIS_CLUSTER_URLS']) {
    problems.push('REDIS_CLUSTER_URLS must be unset when REDIS_URL is set')
  }
  if (env['DATABASE_URL']) {
    for (const name of ['KEY_PEPPERS', 'SIGNING_KEY_ENCRYPTION_KEY']) {
      if (!env[name]) problems.push(`${name} must be set with DATABASE_URL: hosts on one database share it`)
    }
  }
  return problems
}
