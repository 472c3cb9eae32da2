import { CommandError } from '@gatewright/host/internal/commands'
import { call, textsOf } from '../account/host-client.ts'

/** A key, and the host that it is for. */
export interface Credential {
  /** The origin of the host. */
  readonly host: string
  /** The secret text of the key. */
  readonly key: string
}

/** A session that a key was exchanged for. */
export interface HostSession {
  readonly host: string
  readonly headers: Readonly<Record<string, string>>
  /** What its key may do. */
  readonly scopes: readonly string[]
  /** When it should be replaced, on the clock of `performance.now()`. */
  readonly renewAt: number
}

/** A session is replaced after this part of its life. */
const USED_PART = 0.8
/** How long a session lives at least, in ms. A host whose clock differs may seem to say less. */
const SHORTEST_MS = 60_000

/** What a header field can carry. The error of `fetch` for any other value would show the secret. */
const isFieldValue = (text: string): boolean => /^[!-~]+$/.test(text)

/** Exchanges a key for sessions. Calls at the same time share one exchange. */
export class Sessions {
  readonly #credential: () => Promise<Credential>
  #session: HostSession | undefined
  #exchange: Promise<HostSession> | undefined

  /** `credential` is called for each exchange, so that a new login is used without a new start. */
  constructor(credential: () => Promise<Credential>) {
    this.#credential = credential
  }

  /** Returns a session that has not ended. Rejects with a `CommandError`. */
  async current(): Promise<HostSession> {
    const session = this.#session
    if (session && performance.now() < session.renewAt) return session
    this.#exchange ??= this.#exchangeKey().finally(() => {
      this.#exchange = undefined
    })
    return this.#exchange
  }

  /** Forgets a session that the host does not take any more, or that cannot do what its key may do by now. */
  forget(session: HostSession): void {
    if (this.#session === session) this.#session = undefined
  }

  async #exchangeKey(): Promise<HostSession> {
    const { host, key } = await this.#credential()
    if (!isFieldValue(key)) throw new CommandError('The key has characters that no API key has')
    const headers = { 'x-user-key': key }
    const { data } = await call(host, '/user/v1/sessions', { headers, body: {} }).catch((error: unknown) => {
      if (!(error instanceof CommandError) || error.code !== 'unauthorized') throw error
      const next = `Tell the person: npx gatewright login ${host} makes another key, or set another USER_KEY`
      throw new CommandError(`${host} does not take the key: ${error.message}. ${next}`, error.code)
    })
    const { sessionToken, expiresAt } = textsOf(host, data, ['sessionToken', 'expiresAt'])
    if (!isFieldValue(sessionToken))
      throw new CommandError(`${host} responds with a session token that no header field can carry`)
    const lifeMs = Math.max(SHORTEST_MS, Date.parse(expiresAt) - Date.now() || 0)
    const { scopes } = data
    this.#session = {
      host,
      headers: { authorization: `Bearer ${sessionToken}` },
      scopes: Array.isArray(scopes) ? scopes.filter(scope => typeof scope === 'string') : [],
      renewAt: performance.now() + lifeMs * USED_PART,
    }
    return this.#session
  }
}
