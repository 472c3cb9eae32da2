import { call, type CallOptions, type Reply } from '../../shared/api.ts'
import type { SignedIn } from '../sign-in.ts'
import { transactionFeed, type TransactionFeed } from './transaction-feed.ts'

/** A console session, as `POST /auth/console` returns it. The token is a secret for the memory of this page. */
export interface ConsoleSession {
  readonly sessionToken: string
  readonly sessionId: string
  readonly expiresAt: string
}

/** The parts of the console, each behind a tab. */
export type TabName = 'overview' | 'keys' | 'sessions' | 'cards' | 'transactions' | 'notifications'

/** What the console can ask of the page around it. */
export interface ConsoleWays {
  /** Asks the same wallet for one more signature. `next` gets a web token that nothing has used; `back` is for who does not sign. */
  readonly signAgain: (next: (signedIn: SignedIn) => void, back?: () => void) => Promise<unknown>
  /** Shows the form of a new key, made by the sign-in that is fresh: no further signature. */
  readonly createFirstKey: () => void
  /** Shows the form of a new key, lets the wallet sign, and shows the key once. */
  readonly createKey: (back: () => void) => void
  /** Starts again with the choice of a wallet. */
  readonly startAgain: () => void
}

/** What every part of the console works with. */
export interface ConsoleContext {
  /** The wallet that signed in. */
  readonly address: string
  readonly session: ConsoleSession
  readonly ways: ConsoleWays
  readonly transactions: TransactionFeed
  /** Calls an operation of `/user/v1`. A response that the session has ended shows that, over everything. */
  call<T>(path: string, options?: Omit<CallOptions, 'token'>): Promise<Reply<T>>
  /** Shows the console again after another screen, at the part where one was. */
  show(): void
  /** Shows a part of the console. */
  open(tab: TabName): void
  /** Keeps which part is shown, for `show` and for a session that ends. */
  remember(tab: TabName): void
}

/** Makes the calls of a console session. `ended` is called once, when the host says that the session is over. */
export function caller(session: ConsoleSession, ended: () => void): ConsoleContext['call'] {
  let over = false
  return async (path, options) => {
    const reply = await call<never>(`/user/v1${path}`, { ...options, token: session.sessionToken })
    if (!reply.ok && reply.problem.status === 401 && !over) {
      over = true
      ended()
    }
    return reply
  }
}

/** The transactions of a console session, which all parts share. */
export function feedOf(calls: ConsoleContext['call']): TransactionFeed {
  return transactionFeed(cursor => {
    const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
    return calls(`/transactions?limit=100${after}`)
  })
}

const END_TIMEOUT_MS = 10_000

/** Ends a console session and its key. Resolves to whether the host says that it has ended. It also works while the page is being closed. */
export async function endSession({ sessionToken }: ConsoleSession): Promise<boolean> {
  try {
    const { ok, status } = await fetch('/user/v1/sessions/current', {
      method: 'DELETE',
      keepalive: true,
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      headers: { authorization: `Bearer ${sessionToken}` },
      signal: AbortSignal.timeout(END_TIMEOUT_MS),
    })
    return ok || status === 401
  } catch {
    return false
  }
}
