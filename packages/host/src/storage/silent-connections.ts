import { inTime } from './in-time.ts'

/** The part of a node-redis client of one server that is used. */
interface RedisConnection {
  readonly isReady: boolean
  sendCommand(command: string[]): Promise<unknown>
  destroy(): void
  connect(): Promise<unknown>
}

const ignore = (): void => {}

/**
 * Replaces each connection that does not reply to a PING within `limitMs`. If a machine fails without closing its connections,
 * TCP reports that only after about 15 minutes. Commands that wait on such a connection fail, and none is sent again: whether
 * they ran is unknown. Returns the function that stops the checks.
 */
export function replaceSilentConnections(
  connections: () => Iterable<RedisConnection>,
  limitMs: number,
): () => void {
  const asked = new Set<RedisConnection>()
  const ask = async (connection: RedisConnection): Promise<void> => {
    const late = new Error('late')
    // Any reply counts, also an error. A connection that breaks is replaced by its client.
    const reply = connection.sendCommand(['PING']).catch(ignore)
    const silent = await inTime(reply, limitMs, () => late).then(
      () => false,
      () => true,
    )
    asked.delete(connection)
    // A client that is not ready is already reconnecting.
    if (!silent || !connection.isReady) return
    connection.destroy()
    connection.connect().catch(ignore)
  }
  const timer = setInterval(() => {
    for (const connection of connections()) {
      if (!connection.isReady || asked.has(connection)) continue
      asked.add(connection)
      void ask(connection)
    }
  }, limitMs / 5)
  timer.unref()
  return () => clearInterval(timer)
}
