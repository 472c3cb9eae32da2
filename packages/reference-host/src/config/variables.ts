import type { PayinReceiver } from '../chain/receivers.ts'
import type { Plan } from '../product/plans.ts'
import type { Product } from '../product/product.ts'
import {
  anyText,
  bytes32,
  chainUrls,
  listOf,
  namedKeys,
  namedSecrets,
  onOff,
  oneOf,
  origin,
  proxy,
  serviceName,
  urlOf,
  webhookSecret,
  wholeNumber,
  type NamedSecret,
  type WebhookSecret,
} from './parsers.ts'
import type { RingKey } from '../records/sealed.ts'
import { pageVariables } from './page-variables.ts'
import { plansFile } from './plans.ts'
import { productFile } from './product-file.ts'
import { DEFAULT_LIMITS, rateLimits, type RateLimits } from './rate-limits.ts'
import { payinReceivers } from './receivers.ts'
import { optional, variable, type Variable } from './variable.ts'

const redisUrl = urlOf('redis', 'rediss')

/** Every variable that the host reads, in the order of the documentation. */
export const variables = {
  PORT: variable(wholeNumber(0, 65_535), 3000, '`3000`', '0 to 65535; 0 takes a free port'),
  HOST: variable(anyText, '127.0.0.1', '`127.0.0.1`', 'Address to listen on'),
  PUBLIC_URL: optional(
    origin,
    'none',
    'The origin that clients use, which is also the issuer and the audience of session tokens. Changing it ends all sessions',
  ),
  SERVICE_NAME: optional(
    serviceName,
    '`Gatewright Sandbox`, live none',
    'One line of 1 to 64 characters; part of the statements that wallets sign. Two hosts with the same name accept the same statement',
  ),
  GATEWRIGHT_ENV: variable(
    oneOf('sandbox', 'live'),
    'sandbox',
    '`sandbox`',
    '`sandbox` or `live`. Each denies keys of the other. `live` refuses to start with an unsafe default. The first host or command that opens a database decides which of the two it belongs to',
  ),
  DATA_DIR: variable(
    anyText,
    '.data',
    '`.data`',
    'Embedded database, its lock and generated secrets; one process at a time',
  ),
  DATABASE_URL: optional(
    urlOf('postgres', 'postgresql'),
    'none, which means embedded SQLite',
    'Postgres, shared by any number of hosts. `KEY_PEPPERS`, `SIGNING_KEY_ENCRYPTION_KEY` and `DATA_KEYS` must be set with it, and `OPERATOR_TOKEN` if `OPERATOR_PAGE` is `on`',
  ),
  REDIS_URL: optional(
    redisUrl,
    'none',
    'Redis for nonces and rate limits; without it, nonces are in the database and each process counts requests for itself. Must be the master, with `maxmemory-policy noeviction`; its user needs the commands `ROLE` and `INFO`',
  ),
  REDIS_CLUSTER_URLS: optional(
    listOf(redisUrl),
    'none',
    'URLs of some nodes of a Redis Cluster, joined by commas, instead of `REDIS_URL`',
  ),
  KEY_PEPPERS: optional<readonly NamedSecret[]>(
    namedSecrets,
    'generated in a sandbox',
    '`id:secret` pairs joined by commas, secrets of at least 32 characters. New API keys are stored under the first pepper; keys are verified with all of them. To replace a pepper, first add the new one in second place on every host, then move it to the first place. A live key whose pepper is not listed gets a 503',
  ),
  SIGNING_KEY_ENCRYPTION_KEY: optional<Uint8Array>(
    bytes32,
    'generated in a sandbox',
    '32 bytes as 64 hex digits or base64; encrypts signing keys at rest',
  ),
  SIGNING_ALGORITHM: variable(
    oneOf('EdDSA', 'ES256'),
    'EdDSA',
    '`EdDSA`',
    '`EdDSA` (Ed25519) or `ES256` (P-256), for consumers whose libraries lack EdDSA. Applies to new signing keys; existing ones stay valid until they expire',
  ),
  DATA_KEYS: optional<readonly RingKey[]>(
    namedKeys,
    'generated in a sandbox',
    '`id:key` pairs joined by commas, keys of 64 hex digits. They encrypt personal data at rest: the first key encrypts, all decrypt. To replace a key, first add the new one in second place on every host, then move it to the first place. Remove the old key after `data-keys rewrap`',
  ),
  PROVIDER_WEBHOOK_SECRETS: variable<readonly WebhookSecret[]>(
    listOf(webhookSecret),
    [],
    'none, and events of providers are denied',
    '`provider=whsec_...` pairs joined by commas: secrets of the events that providers send (Standard Webhooks). A provider may have two secrets while one replaces the other',
  ),
  ONBOARDING_GATES: optional(
    oneOf('on', 'partner'),
    '`partner`, live `on`',
    'The surfaces on which an account must be identified and must have accepted the agreements before it creates cards or moves money: `on` means both, `partner` the partner surface only. Live requires `on`',
  ),
  PRODUCT_FILE: optional<Product>(
    productFile,
    'none; a sandbox has sample texts',
    'JSON file of `support`, `spotlight` and `agreements`, see below',
  ),
  TRUST_PROXY: variable<readonly string[]>(
    listOf(proxy),
    [],
    'none',
    'Addresses or CIDRs of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted, joined by commas. Live: no block wider than /8 (IPv4) or /7 (IPv6)',
  ),
  REQUIRE_HTTPS: variable(
    onOff,
    false,
    '`off`, live `on`',
    '`on` responds 403 `https_required` to requests without HTTPS',
  ),
  RPC_URLS: variable<readonly { readonly chainId: number; readonly url: string }[]>(
    chainUrls,
    [],
    'none',
    'JSON-RPC endpoints by chain id, joined by commas: `1=https://...`. Contract wallets (ERC-1271) of these chains may sign',
  ),
  RPC_PRIVATE_NETWORK: variable(
    onOff,
    false,
    '`off`',
    '`on` declares that the network to the nodes of `RPC_URLS` is private, so that live allows plain http to other machines. Anyone who can change a reply in that network can forge a payment',
  ),
  PLANS_FILE: optional<readonly Plan[]>(
    plansFile,
    'none; a sandbox has the plans `basic` and `pro`',
    'JSON file of the plans that users can subscribe to: `{"plans":[{"id":"basic","title":"Basic","amountCents":500,"interval":"month"}]}`; `interval` is `month` or `year`',
  ),
  PAYIN_RECEIVERS: variable<readonly PayinReceiver[]>(
    payinReceivers,
    [],
    'none, which means no payments on chains',
    'JSON array of the receivers of ERC-20 payments, see below. `RPC_URLS` must name their chains',
  ),
  CHAIN_POLL_SECONDS: variable(
    wholeNumber(1, 300),
    5,
    '`5`',
    '1 to 300. How often each chain of `PAYIN_RECEIVERS` is polled for payments',
  ),
  RATE_LIMITS: variable<RateLimits>(
    rateLimits,
    DEFAULT_LIMITS,
    `\`${JSON.stringify(DEFAULT_LIMITS)}\``,
    'JSON object that overrides some defaults, or `off` in a sandbox',
  ),
  DIRECT_USER_KEY: variable(
    onOff,
    false,
    '`off`',
    '`on` also accepts a user API key in place of a session on user operations, as some existing clients send it',
  ),
  ...pageVariables,
  DRAIN_SECONDS: optional(
    wholeNumber(0, 300),
    '`0`, live `5`',
    '0 to 300. How long a stopping host still serves requests, reports "not ready" and closes each connection after its response',
  ),
  LOG_LEVEL: variable(
    oneOf('silent', 'fatal', 'error', 'warn', 'info', 'debug'),
    'info',
    '`info`',
    '`silent`, `fatal`, `error`, `warn`, `info` (one line a request) or `debug`; logs are JSON on stderr',
  ),
} as const

/** The parsed values of all variables, by name. */
export type Values = {
  readonly [N in keyof typeof variables]: (typeof variables)[N] extends Variable<infer T> ? T : never
}

/** Variables that this version does not support. With one of them the host does not start, since it would have no effect. */
export const UNSUPPORTED = ['SIGNING_KEYS'] as const
