import { docsLink } from '@gatewright/kernel/internal'
import {
  anyText,
  bytes32,
  listenAddress,
  listOf,
  namedKeys,
  namedSecrets,
  onOff,
  oneOf,
  operatorToken,
  origin,
  postgresUrl,
  proxy,
  serviceName,
  urlOf,
  webhookSecret,
  wholeNumber,
  type NamedSecret,
  type WebhookSecret,
} from './parsers.ts'
import { REQUEST_LOG_MODES } from '../records/request-log.ts'
import type { RingKey } from '../records/sealed.ts'
import { redisUrl } from './redis-target.ts'
import { DEFAULT_RATE_LIMITS, rateLimits, type RateLimits } from './rate-limits.ts'
import { optional, variable, type ValuesOf } from './variable.ts'

/** The variables that every host reads, in the order of the documentation. */
export const hostVariables = {
  PORT: variable(wholeNumber(0, 65_535), 3000, '`3000`', '0 to 65535; 0 takes a free port'),
  HOST: variable(listenAddress, '127.0.0.1', '`127.0.0.1`', 'Address to listen on'),
  PUBLIC_URL: optional(
    origin,
    'none',
    'The origin that clients use, which is also the issuer and the audience of session tokens. Changing it ends all sessions',
  ),
  ERRORS_PAGE: variable(
    urlOf('http', 'https'),
    docsLink('errors.md'),
    'docs/errors.md of the repository',
    'The page that the member `docs` of an error leads to, with the code as anchor. The `/errors` of each host explains its codes, too',
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
    postgresUrl,
    'none, which means embedded SQLite',
    'Postgres, shared by any number of hosts: the URL of one server, whose database has the encoding UTF8. `KEY_PEPPERS`, `SIGNING_KEY_ENCRYPTION_KEY` and `DATA_KEYS` must be set with it, and `OPERATOR_TOKEN` if `OPERATOR_PAGE` is `on`',
  ),
  DATABASE_PREPARE: variable(
    onOff,
    true,
    '`on`',
    '`off`: prepares no statements and sets no limits on connections, for a [pooler in transaction mode](clusters.md#pgbouncer). The limits must be set on the role',
  ),
  DATABASE_LISTEN_URL: optional(
    postgresUrl,
    '`DATABASE_URL`; with `DATABASE_PREPARE=off` none',
    'The same database without the pooler, for one connection of each host that waits for revocations. Without it, hosts only poll for them',
  ),
  MIGRATE: variable(
    onOff,
    true,
    '`on`',
    '`off`: only `npx gatewright migrate` creates and changes tables, so the role of `DATABASE_URL` needs no right to do so. The host and other commands fail if a migration is missing. First run `npx gatewright migrate` with a role that has the right: see [upgrades](upgrades.md)',
  ),
  REDIS_URL: optional(
    redisUrl,
    'none',
    'Redis for rate limits that hold across hosts; without it, or while it is down, each process counts for itself. One server, or a [master behind Sentinels](clusters.md#redis-sentinel): `redis+sentinel://user:password@host:26379,host:26379/name`. Must be the master, with `maxmemory-policy noeviction`; its user needs the commands `ROLE`, `INFO` and `SET`',
  ),
  REDIS_CLUSTER_URLS: optional(
    listOf(urlOf('redis', 'rediss')),
    'none',
    'URLs of some nodes of a Redis Cluster, joined by commas, instead of `REDIS_URL`',
  ),
  REDIS_SENTINEL_PASSWORD: optional(
    anyText,
    'none',
    'Password of the Sentinels that `REDIS_URL` names, if they have one of their own',
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
  TRUST_PROXY: variable<readonly string[]>(
    listOf(proxy),
    [],
    'none',
    'Addresses or CIDRs of proxies whose `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Request-Id` are trusted, joined by commas; `unix` is a proxy on a Unix socket. Live: no block wider than /8 (IPv4) or /7 (IPv6)',
  ),
  REQUIRE_HTTPS: variable(
    onOff,
    false,
    '`off`, live `on`',
    '`on` responds 403 `https_required` to requests without HTTPS',
  ),
  RATE_LIMITS: variable<RateLimits>(
    rateLimits,
    DEFAULT_RATE_LIMITS,
    `\`${JSON.stringify(DEFAULT_RATE_LIMITS)}\``,
    'JSON object that overrides some defaults, or `off` in a sandbox',
  ),
  DIRECT_USER_KEY: variable(
    onOff,
    false,
    '`off`',
    '`on` also accepts a user API key in place of a session on user operations, as some existing clients send it',
  ),
  MCP: optional(
    onOff,
    '`on`, live `off`',
    '`on` serves the operations of users as [tools for models](agent-tools.md#a-host-as-a-server-of-tools) at `/mcp`',
  ),
  OPERATOR_PAGE: variable(
    onOff,
    false,
    '`off`',
    '`on` serves the [operator page](operator-page.md) on a listener of its own, which only this machine reaches',
  ),
  OPERATOR_PORT: variable(
    wholeNumber(0, 65_535),
    3001,
    '`3001`',
    'The port of the operator page on 127.0.0.1; 0 takes a free port',
  ),
  OPERATOR_TOKEN: optional(
    operatorToken,
    'generated in a sandbox',
    '32 to 256 visible ASCII characters that the operator types into the operator page',
  ),
  REQUEST_LOG: variable(
    oneOf(...REQUEST_LOG_MODES),
    'writes',
    '`writes`',
    'Which [requests](requests.md) are kept, so that people see why one was refused: `off`, `refusals` (and failures), `writes` (also every write) or `all` (also every read: one more row for each request)',
  ),
  REQUEST_LOG_DAYS: variable(
    wholeNumber(1, 90),
    7,
    '`7`',
    'How long a request is kept, 1 to 90 days. About the newest 1,000 of each account are kept',
  ),
  EVENT_DAYS: variable(
    wholeNumber(7, 3650),
    400,
    '`400`',
    'How long an event is kept, 7 to 3650 days. Events are the entries in the histories of cards, deposits and other objects, and the notifications, read or not. Money, cards and other records stay',
  ),
  DRAIN_SECONDS: optional(
    wholeNumber(0, 300),
    '`0`, live `5`',
    '0 to 300. How long a stopping host still serves requests, reports "not ready" and closes each connection after its response',
  ),
  LOG_LEVEL: variable(
    oneOf('silent', 'fatal', 'error', 'warn', 'info', 'debug'),
    'info',
    '`info`',
    '`silent`, `fatal`, `error`, `warn`, `info` (one line a request) or `debug`; logs go to stderr',
  ),
  LOG_FORMAT: optional(
    oneOf('json', 'line'),
    '`line` on a terminal, else `json`',
    '`json` for programs, or `line`: one short line a request for a person',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    urlOf('http', 'https'),
    'none',
    'URL of an [OpenTelemetry](opentelemetry.md) collector. With it the host gives a span and metrics for each request to the SDK that is loaded with `--import`, which reads this and the other variables `OTEL_*`',
  ),
} as const

/** The parsed values of the variables of every host, by name. */
export type HostValues = ValuesOf<typeof hostVariables>
