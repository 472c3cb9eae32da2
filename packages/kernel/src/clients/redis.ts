/**
 * Runs Redis commands. A cluster client routes a command by the hash slot of `key`, which all keys of the command share.
 * Commands and arguments are plain strings.
 */
export interface RedisClient {
  run(key: string, command: readonly string[]): Promise<unknown>
  /** Whether it is a client of one server, where keys of different hash slots may share a command. Default false. */
  readonly standalone?: boolean
}

/** Makes a `RedisClient` from node-redis (`createClient`). Set `disableOfflineQueue: true`, so that an outage is an error. */
export function fromNodeRedis(client: { sendCommand(args: string[]): Promise<unknown> }): RedisClient {
  // The arguments are not copied: node-redis only reads them.
  return { standalone: true, run: (_key, command) => client.sendCommand(command as string[]) }
}

/** Makes a `RedisClient` from a node-redis cluster (`createCluster`). */
export function fromNodeRedisCluster(cluster: {
  sendCommand(key: string, isReadonly: boolean, args: string[]): Promise<unknown>
}): RedisClient {
  return { run: (key, command) => cluster.sendCommand(key, false, [...command]) }
}

/** What `fromIoredis` needs of an ioredis client. */
interface IoredisClient {
  readonly isCluster?: boolean
  readonly options: {
    readonly maxRetriesPerRequest?: number | null | undefined
    readonly retryDelayOnFailover?: number | undefined
    readonly clusterNodeRetryStrategy?: unknown
    readonly redisOptions?: { readonly maxRetriesPerRequest?: number | null | undefined } | undefined
  }
  call(command: string, ...args: string[]): Promise<unknown>
}

/**
 * Makes a `RedisClient` from ioredis, standalone or `Cluster`. Set `enableOfflineQueue: false`, so that an outage is an error and
 * not a wait. Throws a `TypeError` unless `maxRetriesPerRequest` is 0, or `retryDelayOnFailover` of a `Cluster`, and with
 * `clusterNodeRetryStrategy` also `redisOptions.maxRetriesPerRequest`: ioredis would send a command again whose reply was lost,
 * and a script could run twice.
 */
export function fromIoredis(client: IoredisClient): RedisClient {
  const { isCluster, options } = client
  if (isCluster) {
    assertZero('retryDelayOnFailover', options.retryDelayOnFailover)
    // Without the strategy, nodes do not connect again.
    if (typeof options.clusterNodeRetryStrategy === 'function')
      assertZero('redisOptions.maxRetriesPerRequest', options.redisOptions?.maxRetriesPerRequest)
  } else assertZero('maxRetriesPerRequest', options.maxRetriesPerRequest)
  return {
    standalone: isCluster === false,
    run: (_key, [name = '', ...args]) => client.call(name, ...args),
  }
}

function assertZero(option: string, value: number | null | undefined): void {
  if (value !== 0)
    throw new TypeError(
      `fromIoredis: ${option} must be 0, got ${value}: set it, or a script whose reply is lost could run twice`,
    )
}
