import { unsafeForLive } from './live.ts'
import type { RingKey } from '../records/sealed.ts'
import { hostVariables, type HostValues } from './host-variables.ts'
import type { NamedSecret, WebhookSecret } from './parsers.ts'
import type { RateLimits } from './rate-limits.ts'
import type { RedisTarget } from './redis-target.ts'
import { parseVariables, type Env } from './variable.ts'

/** The configuration that every host has, whatever it serves. `host-variables.ts` documents each variable. */
export interface HostConfig {
  readonly host: string
  readonly port: number
  readonly serviceName: string
  readonly environment: 'sandbox' | 'live'
  readonly publicUrl: string | undefined
  /** The address of the page that explains each error code, under the code as anchor. */
  readonly errorsPage: string
  readonly dataDir: string
  readonly keyPeppers: readonly NamedSecret[] | undefined
  readonly signingKeyEncryptionKey: Uint8Array | undefined
  /** The first encrypts; undefined: generated in the data folder. */
  readonly dataKeys: readonly RingKey[] | undefined
  readonly webhookSecrets: readonly WebhookSecret[]
  /** Algorithm of signing keys created from now on. */
  readonly signingAlgorithm: HostValues['SIGNING_ALGORITHM']
  readonly databaseUrl: string | undefined
  /** Whether statements are prepared and connections have settings. Not behind a pooler in transaction mode. */
  readonly databasePrepare: boolean
  /** Where notifications are received; undefined: at `databaseUrl`, or nowhere if `databasePrepare` is off. */
  readonly databaseListenUrl: string | undefined
  /** Whether a start creates and changes tables. If not, it fails on tables that miss a version. */
  readonly migrate: boolean
  readonly redis: RedisTarget | undefined
  readonly trustProxy: readonly string[]
  readonly requireHttps: boolean
  readonly drainSeconds: number
  readonly rateLimits: RateLimits
  readonly directUserKey: boolean
  /** Whether operations are served as tools for models. */
  readonly mcp: boolean
  /** The listener of the operator page. Undefined if the page is off. Without a token, the host generates one in the data folder. */
  readonly operator: { readonly port: number; readonly token: string | undefined } | undefined
  /** Which requests are kept, and for how many days. */
  readonly requestLog: { readonly mode: HostValues['REQUEST_LOG']; readonly days: number }
  /** How many days an event is kept: it is history and notification at once. */
  readonly eventDays: number
  readonly logLevel: HostValues['LOG_LEVEL']
  readonly logFormat: HostValues['LOG_FORMAT']
  /** Whether spans and metrics are given to OpenTelemetry. */
  readonly openTelemetry: boolean
}

/** A configuration, or all of its problems: one line each, starting with the variable's name. */
export type ConfigResult<C> =
  | { readonly ok: true; readonly value: C }
  | { readonly ok: false; readonly problems: readonly string[] }

/** Reads the configuration that every host has from environment variables. An empty variable counts as unset. */
export function readHostConfig(env: Env): ConfigResult<HostConfig> {
  const { values, problems: unparsed } = parseVariables(hostVariables, env)
  const problems = [...unparsed, ...conflicts(env)]
  if (env['GATEWRIGHT_ENV'] === 'live') problems.push(...unsafeForLive(env, values))
  return problems.length === 0
    ? { ok: true, value: toConfig(values as HostValues, env) }
    : { ok: false, problems }
}

function toConfig(values: HostValues, env: Env): HostConfig {
  const { GATEWRIGHT_ENV: environment } = values
  const live = environment === 'live'
  return {
    host: values.HOST,
    port: values.PORT,
    serviceName: values.SERVICE_NAME ?? 'Gatewright Sandbox',
    environment,
    publicUrl: values.PUBLIC_URL,
    errorsPage: values.ERRORS_PAGE,
    dataDir: values.DATA_DIR,
    keyPeppers: values.KEY_PEPPERS,
    signingKeyEncryptionKey: values.SIGNING_KEY_ENCRYPTION_KEY,
    dataKeys: values.DATA_KEYS,
    webhookSecrets: values.PROVIDER_WEBHOOK_SECRETS,
    signingAlgorithm: values.SIGNING_ALGORITHM,
    databaseUrl: values.DATABASE_URL,
    databasePrepare: values.DATABASE_PREPARE,
    databaseListenUrl: values.DATABASE_LISTEN_URL,
    migrate: values.MIGRATE,
    redis: redisTarget(values),
    trustProxy: values.TRUST_PROXY,
    requireHttps: env['REQUIRE_HTTPS'] ? values.REQUIRE_HTTPS : live,
    drainSeconds: values.DRAIN_SECONDS ?? (live ? 5 : 0),
    rateLimits: values.RATE_LIMITS,
    directUserKey: values.DIRECT_USER_KEY,
    mcp: values.MCP ?? !live,
    operator: values.OPERATOR_PAGE ? { port: values.OPERATOR_PORT, token: values.OPERATOR_TOKEN } : undefined,
    requestLog: { mode: values.REQUEST_LOG, days: values.REQUEST_LOG_DAYS },
    eventDays: values.EVENT_DAYS,
    logLevel: values.LOG_LEVEL,
    logFormat: values.LOG_FORMAT,
    openTelemetry: values.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
  }
}

function redisTarget({
  REDIS_URL: server,
  REDIS_CLUSTER_URLS: clusterUrls,
  REDIS_SENTINEL_PASSWORD: sentinelPassword,
}: HostValues): RedisTarget | undefined {
  if (server === undefined) return clusterUrls && { clusterUrls }
  return 'url' in server ? server : { ...server, sentinelPassword }
}

/** Problems between variables. */
function conflicts(env: Env): string[] {
  const problems: string[] = []
  if (env['REDIS_URL'] && env['REDIS_CLUSTER_URLS']) {
    problems.push('REDIS_CLUSTER_URLS must be unset when REDIS_URL is set')
  }
  if (env['REDIS_SENTINEL_PASSWORD'] && !env['REDIS_URL']?.includes('+sentinel:')) {
    problems.push('REDIS_SENTINEL_PASSWORD must be unset unless REDIS_URL names Sentinels')
  }
  if (env['DATABASE_LISTEN_URL'] && !env['DATABASE_URL']) {
    problems.push('DATABASE_LISTEN_URL must be unset unless DATABASE_URL is set')
  }
  if (env['DATABASE_URL']) {
    for (const name of ['KEY_PEPPERS', 'SIGNING_KEY_ENCRYPTION_KEY', 'DATA_KEYS']) {
      if (!env[name]) problems.push(`${name} must be set with DATABASE_URL: hosts on one database share it`)
    }
  }
  if (env['OPERATOR_PAGE'] === 'on') {
    if (env['DATABASE_URL'] && !env['OPERATOR_TOKEN'])
      problems.push('OPERATOR_TOKEN must be set with OPERATOR_PAGE and DATABASE_URL')
    if (env['OPERATOR_PORT'] && env['OPERATOR_PORT'] !== '0' && env['OPERATOR_PORT'] === env['PORT'])
      problems.push('OPERATOR_PORT must not be PORT: the operator page has a listener of its own')
  }
  return problems
}
