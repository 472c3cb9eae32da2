import type { Surface } from '@gatewright/kernel'
import type { PayinReceiver } from '../chain/receivers.ts'
import type { ChainUrl } from '../chain/rpc-clients.ts'
import { SANDBOX_PLANS, type Plan } from '../product/plans.ts'
import { EMPTY_PRODUCT, SANDBOX_PRODUCT, type Product } from '../product/product.ts'
import { unsafeForLive } from './live.ts'
import type { RingKey } from '../records/sealed.ts'
import type { NamedSecret, WebhookSecret } from './parsers.ts'
import type { RateLimits } from './rate-limits.ts'
import type { Variable } from './variable.ts'
import { UNSUPPORTED, variables, type Values } from './variables.ts'

/** The address of Redis: one server, or some nodes of a cluster. */
export type RedisTarget = { readonly url: string } | { readonly clusterUrls: readonly string[] }

/**
 * The whole configuration of a host, read from the environment once. `variables.ts` documents each variable.
 */
export interface Config {
  readonly host: string
  readonly port: number
  readonly serviceName: string
  readonly environment: 'sandbox' | 'live'
  readonly publicUrl: string | undefined
  readonly dataDir: string
  readonly keyPeppers: readonly NamedSecret[] | undefined
  readonly signingKeyEncryptionKey: Uint8Array | undefined
  /** The first key encrypts. Undefined: a key is generated in the data folder. */
  readonly dataKeys: readonly RingKey[] | undefined
  readonly webhookSecrets: readonly WebhookSecret[]
  /** The surfaces on which accounts must meet the onboarding requirements. */
  readonly onboardingSurfaces: readonly Surface[]
  readonly product: Product
  /** Algorithm of signing keys created from now on. */
  readonly signingAlgorithm: Values['SIGNING_ALGORITHM']
  readonly databaseUrl: string | undefined
  readonly redis: RedisTarget | undefined
  readonly trustProxy: readonly string[]
  readonly requireHttps: boolean
  readonly rpcUrls: readonly ChainUrl[]
  /** The plans that users can subscribe to. */
  readonly plans: readonly Plan[]
  readonly payinReceivers: readonly PayinReceiver[]
  readonly chainPollSeconds: number
  readonly drainSeconds: number
  readonly rateLimits: RateLimits
  readonly directUserKey: boolean
  /** The listener of the operator page. Undefined if the page is off. Without a token, the host generates one in the data folder. */
  readonly operator: { readonly port: number; readonly token: string | undefined } | undefined
  /** Whether `/helper` is served. */
  readonly helperPage: boolean
  /** Whether `/docs` is served. */
  readonly docsPage: boolean
  readonly logLevel: Values['LOG_LEVEL']
}

/** The configuration, or all of its problems: one line each, starting with the variable's name. */
export type ConfigResult =
  | { readonly ok: true; readonly value: Config }
  | { readonly ok: false; readonly problems: readonly string[] }

type Env = Readonly<Record<string, string | undefined>>

/** Reads the configuration from environment variables. An empty variable counts as unset. */
export function readConfig(env: Env): ConfigResult {
  const problems: string[] = []
  const values = {} as Record<string, unknown>
  for (const [name, variable] of Object.entries<Variable<unknown>>(variables)) {
    const text = env[name]
    const result = text === undefined || text === '' ? { value: variable.fallback } : variable.parse(text)
    if ('expected' in result) problems.push(`${name} ${result.expected}`)
    else values[name] = result.value
  }
  problems.push(...conflicts(env), ...unreachableChains(values))
  if (env['GATEWRIGHT_ENV'] === 'live') problems.push(...unsafeForLive(env, values))
  return problems.length === 0
    ? { ok: true, value: toConfig(values as Values, env) }
    : { ok: false, problems }
}

function toConfig(values: Values, env: Env): Config {
  const { REDIS_URL: url, REDIS_CLUSTER_URLS: clusterUrls, GATEWRIGHT_ENV: environment } = values
  const live = environment === 'live'
  return {
    host: values.HOST,
    port: values.PORT,
    serviceName: values.SERVICE_NAME ?? 'Gatewright Sandbox',
    environment,
    publicUrl: values.PUBLIC_URL,
    dataDir: values.DATA_DIR,
    keyPeppers: values.KEY_PEPPERS,
    signingKeyEncryptionKey: values.SIGNING_KEY_ENCRYPTION_KEY,
    dataKeys: values.DATA_KEYS,
    webhookSecrets: values.PROVIDER_WEBHOOK_SECRETS,
    onboardingSurfaces:
      (values.ONBOARDING_GATES ?? (live ? 'on' : 'partner')) === 'on' ? ['user', 'partner'] : ['partner'],
    product: values.PRODUCT_FILE ?? (live ? EMPTY_PRODUCT : SANDBOX_PRODUCT),
    signingAlgorithm: values.SIGNING_ALGORITHM,
    databaseUrl: values.DATABASE_URL,
    redis: url === undefined ? clusterUrls && { clusterUrls } : { url },
    trustProxy: values.TRUST_PROXY,
    requireHttps: env['REQUIRE_HTTPS'] ? values.REQUIRE_HTTPS : live,
    rpcUrls: values.RPC_URLS,
    plans: values.PLANS_FILE ?? (live ? [] : SANDBOX_PLANS),
    payinReceivers: values.PAYIN_RECEIVERS,
    chainPollSeconds: values.CHAIN_POLL_SECONDS,
    drainSeconds: values.DRAIN_SECONDS ?? (live ? 5 : 0),
    rateLimits: values.RATE_LIMITS,
    directUserKey: values.DIRECT_USER_KEY,
    operator: values.OPERATOR_PAGE ? { port: values.OPERATOR_PORT, token: values.OPERATOR_TOKEN } : undefined,
    helperPage: values.HELPER_PAGE,
    docsPage: values.DOCS_PAGE,
    logLevel: values.LOG_LEVEL,
  }
}

/** Lists the problems between variables. */
function conflicts(env: Env): string[] {
  const problems = UNSUPPORTED.filter(name => env[name]).map(
    name => `${name} has no effect in this version: unset it`,
  )
  if (env['REDIS_URL'] && env['REDIS_CLUSTER_URLS']) {
    problems.push('REDIS_CLUSTER_URLS must be unset when REDIS_URL is set')
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

/** Lists chains that have a pay-in receiver and no node; none if one of the two variables could not be parsed. */
function unreachableChains({ RPC_URLS: urls, PAYIN_RECEIVERS: receivers }: Partial<Values>): string[] {
  const chains = new Set(urls && receivers?.map(({ chainId }) => chainId))
  for (const { chainId } of urls ?? []) chains.delete(chainId)
  return [...chains].map(
    chainId =>
      `PAYIN_RECEIVERS names chain ${chainId}, which RPC_URLS does not: add ${chainId}=https://... to RPC_URLS`,
  )
}
