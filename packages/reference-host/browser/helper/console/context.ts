import { call, type CallOptions, type Reply } from '../../shared/api.ts'
import type { SignedIn } from '../sign-in.ts'
import type { PageId } from './route.ts'
import type { StoredSession } from './stored-session.ts'
import { pagedFeed, pageReader, type TransactionFeed } from './transaction-feed.ts'
import type { Transaction } from './wire.ts'

/** The functions of the page that the console can call. */
export interface ConsoleActions {
  /**
   * Asks the wallet of this account for a signature. `next` is called with an unused web token, `back` if the person does not
   * sign.
   */
  readonly signAgain: (next: (signedIn: SignedIn) => void, back?: () => void) => Promise<unknown>
  /** Shows the form of a new key, lets the wallet sign, and shows the key once. */
  readonly createKey: (back: () => void) => void
  /** Starts again with the choice of a wallet. */
  readonly startAgain: () => void
}

/** The data and functions that every page of the console uses. */
export interface ConsoleContext {
  readonly session: StoredSession
  readonly actions: ConsoleActions
  readonly transactions: TransactionFeed
  /** Calls an operation of `/user/v1`. If the response says that the session has ended, the whole page shows that. */
  call<T>(path: string, options?: Omit<CallOptions, 'token'>): Promise<Reply<T>>
  /** Shows the console again after another screen, at the address of the window. */
  show(): void
  /** Opens a page, or the drawer of a row of it. */
  open(page: PageId, row?: string): void
  /** Makes the open page again, after something that it lists has changed. */
  refresh(): void
  /** The filters in the address of the open page, such as `keyId` in `#/requests?keyId=ID`. */
  filters(): URLSearchParams
  /** Writes the filters of the open page into its address, without a step in the history, and leaves the page as it is. */
  setFilters(filters: Readonly<Record<string, string>>): void
}

/**
 * Makes the function that calls the host in a console session. `ended` is called once, when the host says that the session has
 * ended.
 */
export function caller(
  { sessionToken }: Pick<StoredSession, 'sessionToken'>,
  ended: () => void,
): ConsoleContext['call'] {
  let over = false
  return async (path, options) => {
    const reply = await call<never>(`/user/v1${path}`, { ...options, token: sessionToken })
    if (!reply.ok && reply.problem.status === 401 && !over) {
      over = true
      ended()
    }
    return reply
  }
}

/** Makes the transaction feed that all parts of a console session share. */
export function feedOf(calls: ConsoleContext['call']): TransactionFeed {
  const list = { path: '/transactions', name: 'transactions', query: new URLSearchParams() }
  return pagedFeed(pageReader<Transaction>(calls, list))
}

const END_TIMEOUT_MS = 10_000

/** Ends a console session and its key. Resolves to whether the host confirmed it. */
export async function endSession({ sessionToken }: Pick<StoredSession, 'sessionToken'>): Promise<boolean> {
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
