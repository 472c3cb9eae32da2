import { Redis } from 'ioredis'
import pg from 'pg'
import { createClient } from 'redis'
import { uniqueName } from '../stores.ts'

/** What undoes a setting of the whole process. */
type Restore = () => void

/** A setting of `pg` that an application has made for itself, in its process or in its database. */
export interface PgSetting {
  /** Changes the process. */
  apply(): Restore
  /** Options of its connections. */
  readonly options?: string
}

/** Sets parsers of columns, as an application does at its start. */
const parsers =
  (parse: Readonly<Record<number, (text: string) => unknown>>): PgSetting['apply'] =>
  () => {
    const types = Object.keys(parse).map(Number)
    const before = types.map(type => pg.types.getTypeParser(type, 'text'))
    for (const type of types) pg.types.setTypeParser(type, parse[type] as (text: string) => string)
    return () => {
      for (const [at, type] of types.entries()) pg.types.setTypeParser(type, before[at] as never)
    }
  }

const { INT8, INT4, INT2, NUMERIC, JSON: JSON_TYPE, JSONB, TIMESTAMPTZ } = pg.types.builtins
const asText = (text: string): string => text
/** A number of a library of decimals. */
class Decimal {
  readonly #text: string
  constructor(text: string) {
    this.#text = text
  }
  toString(): string {
    return this.#text
  }
}
const decimal = (text: string): Decimal => new Decimal(text)

/** What instrumentation replaces before it sends a query object. */
interface QueryObject {
  readonly text: string
  readonly name?: string
  callback?: (...results: unknown[]) => void
}

/** How many query objects were copied, and how many of the copies have called back. */
export const copies = { made: 0, ended: 0 }

/**
 * Copies query objects as the instrumentation of OpenTelemetry does with `addSqlCommenterCommentToQueries`: it sends a copy that has a comment, and
 * replaces the callback of the copy.
 */
function copyQueryObjects(): Restore {
  const prototype = pg.Client.prototype as unknown as { query(...args: unknown[]): unknown }
  const original = prototype.query
  prototype.query = function (this: unknown, ...args: unknown[]): unknown {
    const [query] = args as [string | QueryObject]
    if (typeof query === 'object' && query.name === undefined) {
      const copy = { ...query, text: `${query.text} /*traceparent='00-1'*/` }
      args[0] = copy
      if (copy.callback) {
        copies.made += 1
        const { callback } = copy
        copy.callback = (...results) => {
          copies.ended += 1
          callback(...results)
        }
      }
    }
    return Reflect.apply(original, this, args)
  }
  return () => {
    prototype.query = original
  }
}

const nothing: PgSetting['apply'] = () => () => {}

/** Settings of `pg` and Postgres under which the stores must work. */
export const PG_SETTINGS: Readonly<Record<string, PgSetting>> = {
  'BigInt parsers': { apply: parsers({ [INT8]: BigInt, [INT4]: BigInt, [INT2]: BigInt, [NUMERIC]: BigInt }) },
  'Number parsers': { apply: parsers({ [INT8]: Number, [NUMERIC]: Number }) },
  'decimal parsers': { apply: parsers({ [INT8]: decimal, [INT4]: decimal, [NUMERIC]: decimal }) },
  'text parsers': {
    apply: parsers({ [INT4]: asText, [JSON_TYPE]: asText, [JSONB]: asText, [TIMESTAMPTZ]: asText }),
  },
  'copied query objects': { apply: copyQueryObjects },
  serializable: { apply: nothing, options: '-c default_transaction_isolation=serializable' },
  'repeatable read': { apply: nothing, options: '-c default_transaction_isolation=repeatable\\ read' },
}

/** A client of Redis, for `redisStore`, `fromNodeRedis` or `fromIoredis`. */
export interface OpenedRedis<Client> {
  readonly client: Client
  close(): void
}

async function openIoredis(options: object): Promise<OpenedRedis<Redis>> {
  const client = new Redis(process.env['TEST_REDIS_URL'] as string, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    lazyConnect: true,
    ...options,
  })
  await client.connect()
  return { client, close: () => client.disconnect() }
}

async function openNodeRedis(options: object) {
  const client = createClient({
    url: process.env['TEST_REDIS_URL'] as string,
    disableOfflineQueue: true,
    ...options,
  })
  client.on('error', () => {})
  await client.connect()
  return { client, close: () => client.destroy() }
}

const BLOB_STRING = 36
const NUMBER = 58
/** All connections of a run have one prefix. */
const keyPrefix = `${uniqueName()}:app:`

/** Settings of ioredis under which the stores must work. */
export const IOREDIS_SETTINGS: Readonly<Record<string, () => Promise<OpenedRedis<Redis>>>> = {
  'ioredis, keyPrefix': () => openIoredis({ keyPrefix }),
  'ioredis, keyPrefix, RESP 2': () => openIoredis({ keyPrefix, protocol: 2 }),
  'ioredis, replies of RESP 3': () => openIoredis({ protocol: 3, replyMapping: 'resp3' }),
  'ioredis, pipelining': () => openIoredis({ keyPrefix, enableAutoPipelining: true }),
}

/** Settings of node-redis under which the stores must work. */
export const NODE_REDIS_SETTINGS: Readonly<Record<string, () => ReturnType<typeof openNodeRedis>>> = {
  'node-redis, RESP 2': () => openNodeRedis({ RESP: 2 }),
  'node-redis, RESP 3': () => openNodeRedis({ RESP: 3 }),
  'node-redis, Buffers': () => openNodeRedis({ commandOptions: { typeMapping: { [BLOB_STRING]: Buffer } } }),
  'node-redis, numbers as texts': () =>
    openNodeRedis({ commandOptions: { typeMapping: { [NUMBER]: String } } }),
}
