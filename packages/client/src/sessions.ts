import { unlessAborted, type ClientClock } from './clock.ts'

/** The sessions that a client gets for its API key, one after the other. */
export interface Sessions {
  /**
   * Resolves to a session token. The client keeps the latest one, and exchanges its key for a new one if it has none, if the latest is
   * about to expire, or if the latest is `denied`, a token that the host has refused. Callers at the same time share one exchange, also
   * one that fails. If a caller aborts, the exchange goes on for the others.
   */
  token(signal?: AbortSignal, denied?: string): Promise<string>
}

/** How long before its end a token is replaced, in ms: at most a quarter of its life. */
const MARGIN_MS = 30_000

/**
 * Creates them. `exchange` resolves to a new token. `ttlSeconds` is its life by the clock of the client: that of the host may differ, and a
 * token which ends earlier is replaced when the host denies it.
 */
export function createSessions(
  exchange: () => Promise<string>,
  ttlSeconds: number,
  clock: ClientClock,
): Sessions {
  const life = ttlSeconds * 1000
  let current: { readonly token: string; readonly until: number } | undefined
  let running: Promise<string> | undefined

  const renew = async (): Promise<string> => {
    const until = clock.now() + life - Math.min(MARGIN_MS, life / 4)
    const token = await exchange()
    current = { token, until }
    return token
  }

  return {
    async token(signal, denied) {
      if (current && current.token !== denied && clock.now() < current.until) return current.token
      running ??= renew().finally(() => (running = undefined))
      return unlessAborted(running, signal)
    },
  }
}
