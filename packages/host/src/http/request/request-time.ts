import type { ServerOptions } from 'node:http'

/** How often a listener checks for requests that take too long, in ms. Node's default is 30 000. */
const CHECK_MS = 1000

/**
 * Makes the options of a listener that closes a connection if its request, head and body, has not arrived within `limitMs`.
 * Node checks for such requests periodically, by default every 30 s, so that a limit of 30 s could take 60 s. With these
 * options a connection is closed at most one second after the limit.
 */
export function requestTimeLimit(limitMs: number): ServerOptions {
  return {
    requestTimeout: limitMs,
    headersTimeout: limitMs,
    connectionsCheckingInterval: CHECK_MS,
  }
}
