/** The part of an ioredis client that is used. */
interface OnDemandClient {
  readonly status?: string
  connect?(): Promise<unknown>
}

/** Clients that are connecting because of their first use. */
const connecting = new WeakMap<object, Promise<unknown>>()

/**
 * Connects a client of ioredis with `lazyConnect` before its first command, because without an offline queue it rejects the command that makes it
 * connect. Calls made meanwhile get the same promise. Undefined: there is nothing to wait for. Rejects if it cannot connect.
 */
export function connectOnDemand(client: OnDemandClient): Promise<unknown> | undefined {
  if (client.status !== 'wait' || !client.connect) return connecting.get(client)
  const connected = client.connect().finally(() => connecting.delete(client))
  connecting.set(client, connected)
  return connected
}
