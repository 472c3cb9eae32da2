/** A console session, as `POST /auth/console` returns it. */
export interface ConsoleSession {
  readonly sessionToken: string
  readonly sessionId: string
  readonly expiresAt: string
}

/** A console session as the page keeps it, with the wallet that opened it. */
export interface StoredSession extends ConsoleSession {
  readonly address: string
  readonly wallet: {
    readonly name: string
    /** The reverse domain name, by which the wallet is found again after a reload. */
    readonly rdns: string | undefined
  }
}

/**
 * `sessionStorage` is of one tab: it survives a reload and ends with the tab. Its token can move no money (decision 0047). A
 * browser may refuse storage: then a reload asks for a signature.
 */
const NAME = 'gatewright.console'

/** Keeps the session of this tab over a reload. */
export function storeSession(session: StoredSession): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(session))
  } catch {
    return undefined
  }
}

/** Whether the person has hidden the open steps of the set-up. It is kept as long as the session. */
const SETUP_HIDDEN = 'gatewright.setup-hidden'

/** Hides the open steps of the set-up until the next sign-in. */
export function hideSetup(): void {
  try {
    sessionStorage.setItem(SETUP_HIDDEN, 'yes')
  } catch {
    return undefined
  }
}

/** Whether the open steps of the set-up are hidden. */
export function isSetupHidden(): boolean {
  try {
    return sessionStorage.getItem(SETUP_HIDDEN) !== null
  } catch {
    return false
  }
}

/** Removes the stored session. */
export function forgetSession(): void {
  try {
    sessionStorage.removeItem(NAME)
    sessionStorage.removeItem(SETUP_HIDDEN)
  } catch {
    return undefined
  }
}

/**
 * Reads the session that this tab has stored. Returns undefined if no session is stored, or if the stored one is damaged or has expired.
 * A damaged or expired session is deleted, and the person signs in again.
 */
export function readStoredSession(now: number = Date.now()): StoredSession | undefined {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(NAME) ?? 'null')
    if (isSession(stored) && now < Date.parse(stored.expiresAt)) return stored
  } catch {
    // Damaged, or the browser refuses storage.
  }
  forgetSession()
  return undefined
}

function isSession(value: unknown): value is StoredSession {
  const { sessionToken, sessionId, expiresAt, address, wallet } = (value ?? {}) as Partial<StoredSession>
  const texts = [sessionToken, sessionId, expiresAt, address, wallet?.name]
  return texts.every(text => typeof text === 'string' && text !== '')
}
