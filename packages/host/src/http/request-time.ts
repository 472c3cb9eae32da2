import type { ServerOptions } from 'node:http'

/** How often a listener looks for requests whose time is over, in ms. Node's default is 30 000. */
const CHECK_MS = 1000

/**
 * The options of a listener that closes a connection whose request, head and body, has not arrived within `limitMs`. Node looks for
 * such requests now and then only: by default every 30 s, so that a limit of 30 s could take 60 s. Here a request is cut at most
 * one second after its limit.
 */
export function requestTimeLimit(limitMs: number): ServerOptions {
  return {
    requestTimeout: limitMs,
    headersTimeout: limitMs,
    connectionsCheckingInterval: CHECK_MS,
  }
}
