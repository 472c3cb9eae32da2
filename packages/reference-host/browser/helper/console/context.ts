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

/** The functions of the page that the console can call. */
export interface ConsoleActions {
  /** Asks the same wallet for another signature. `next` is called with an unused web token, `back` if the person does not sign. */
  readonly signAgain: (next: (signedIn: SignedIn) => void, back?: () => void) => Promise<unknown>
  /** Shows the form of a new key. The current sign-in creates the key, without another signature. */
  readonly createFirstKey: () => void
  /** Shows the form of a new key, lets the wallet sign, and shows the key once. */
  readonly createKey: (back: () => void) => void
  /** Starts again with the choice of a wallet. */
  readonly startAgain: () => void
}

/** The data and functions that every part of the console uses. */
export interface ConsoleContext {
  /** The wallet that signed in. */
  readonly address: string
  readonly session: ConsoleSession
  readonly actions: ConsoleActions
  readonly transactions: TransactionFeed
  /** Calls an operation of `/user/v1`. If the response says that the session has ended, the whole page shows that. */
  call<T>(path: string, options?: Omit<CallOptions, 'token'>): Promise<Reply<T>>
  /** Shows the console again after another screen, with the part that was shown before. */
  show(): void
  /** Shows a part of the console. */
  open(tab: TabName): void
  /** Stores which part is shown, for `show` and for the next session. */
  remember(tab: TabName): void
}

/**
 * Makes the function that calls the host in a console session. `ended` is called once, when the host says that the session has
 * ended.
 */
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

/** Makes the transaction feed that all parts of a console session share. */
export function feedOf(calls: ConsoleContext['call']): TransactionFeed {
  return transactionFeed(cursor => {
    const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
    return calls(`/transactions?limit=100${after}`)
  })
}

const END_TIMEOUT_MS = 10_000

/** Ends a console session and its key, also while the page is being closed. Resolves to whether the host confirmed it. */
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
