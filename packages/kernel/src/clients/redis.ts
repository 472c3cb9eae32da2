import { connectOnDemand } from './connect-on-demand.ts'

/**
 * Runs Redis commands. A cluster client routes a command by the hash slot of `key`, which all keys of the command share.
 * Commands and arguments are plain strings.
 */
export interface RedisClient {
  run(key: string, command: readonly string[]): Promise<unknown>
  /** Whether it is a client of one server, where keys of different hash slots may share a command. Default false. */
  readonly standalone?: boolean
  /**
   * What the client itself puts before each key that it sends. A key of a script has it, and a name that comes back from the server; a
   * name that a script makes from its arguments does not. Default: nothing.
   */
  readonly keyPrefix?: string
}

/** Replies have the types of node-redis, whatever the `typeMapping` of the client is, such as Buffers for texts. */
const OWN_TYPES = { typeMapping: {} }

/**
 * Makes a `RedisClient` from node-redis (`createClient`). Set `disableOfflineQueue: true`, so that an outage is an error. A `typeMapping`
 * of the client has no effect on its replies.
 */
export function fromNodeRedis(client: {
  sendCommand(args: string[], options: typeof OWN_TYPES): Promise<unknown>
}): RedisClient {
  // The arguments are not copied: node-redis only reads them.
  return { standalone: true, run: (_key, command) => client.sendCommand(command as string[], OWN_TYPES) }
}

/** Makes a `RedisClient` from a node-redis cluster (`createCluster`). A `typeMapping` of it has no effect on its replies. */
export function fromNodeRedisCluster(cluster: {
  sendCommand(key: string, isReadonly: boolean, args: string[], options: typeof OWN_TYPES): Promise<unknown>
}): RedisClient {
  return { run: (key, command) => cluster.sendCommand(key, false, [...command], OWN_TYPES) }
}

/** What `fromIoredis` needs of an ioredis client. */
export interface IoredisClient {
  readonly isCluster?: boolean
  readonly options: {
    readonly maxRetriesPerRequest?: number | null | undefined
    readonly retryDelayOnFailover?: number | undefined
    readonly clusterNodeRetryStrategy?: unknown
    readonly keyPrefix?: string | undefined
    readonly stringNumbers?: boolean | undefined
    readonly scaleReads?: unknown
    readonly redisOptions?:
      | {
          readonly maxRetriesPerRequest?: number | null | undefined
          readonly stringNumbers?: boolean | undefined
        }
      | undefined
  }
  /** `wait`: it connects on demand, and has not been used. */
  readonly status?: string
  connect?(): Promise<unknown>
  call(command: string, ...args: string[]): Promise<unknown>
}

/**
 * Makes a `RedisClient` from ioredis, standalone or `Cluster`. Set `enableOfflineQueue: false`, so that an outage is an error and
 * not a wait. A client with `lazyConnect` is connected by its first use. Throws a `TypeError` unless `maxRetriesPerRequest` is 0, or `retryDelayOnFailover` of a `Cluster`, and with
 * `clusterNodeRetryStrategy` also `redisOptions.maxRetriesPerRequest`: ioredis would send a command again whose reply was lost,
 * and a script could run twice. Throws one, too, with `stringNumbers`, because no reply could be read, and with `scaleReads` of a
 * `Cluster` other than `master`, because a replica may not have what was written.
 */
export function fromIoredis(client: IoredisClient): RedisClient {
  const { isCluster, options } = client
  if (isCluster) {
    assertZero('retryDelayOnFailover', options.retryDelayOnFailover)
    // Without the strategy, nodes do not connect again.
    if (typeof options.clusterNodeRetryStrategy === 'function')
      assertZero('redisOptions.maxRetriesPerRequest', options.redisOptions?.maxRetriesPerRequest)
    if (![undefined, 'master'].includes(options.scaleReads as string | undefined))
      throw new TypeError(
        'fromIoredis: scaleReads must be "master": a replica may not have what was written before',
      )
  } else assertZero('maxRetriesPerRequest', options.maxRetriesPerRequest)
  if (options.stringNumbers || options.redisOptions?.stringNumbers)
    throw new TypeError(
      'fromIoredis: stringNumbers must be false, got true: replies that are numbers could not be read',
    )
  return {
    standalone: isCluster === false,
    keyPrefix: options.keyPrefix ?? '',
    run: (_key, [name = '', ...args]) => {
      const connected = connectOnDemand(client)
      return connected ? connected.then(() => client.call(name, ...args)) : client.call(name, ...args)
    },
  }
}

function assertZero(option: string, value: number | null | undefined): void {
  if (value !== 0)
    throw new TypeError(
      `fromIoredis: ${option} must be 0, got ${value}: set it, or a script whose reply is lost could run twice`,
    )
}
