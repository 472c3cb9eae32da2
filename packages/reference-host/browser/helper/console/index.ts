import { call, type Reply } from '../../shared/api.ts'
import { button, el } from '../../shared/dom.ts'
import { when } from '../../shared/time.ts'
import { isScreenHeld, show, showFailure } from '../screen.ts'
import type { SignedIn } from '../sign-in.ts'
import type { Wallet } from '../wallets.ts'
import { caller, endSession, feedOf, type ConsoleActions, type ConsoleContext } from './context.ts'
import { addressOf, isConsoleAddress, parseAddress } from './route.ts'
import { mountShell, type Shell } from './shell.ts'
import { forgetSession, storeSession, type ConsoleSession, type StoredSession } from './stored-session.ts'

export type { ConsoleActions } from './context.ts'

/** Exchanges the web token of a sign-in for a console session. */
export async function openSession(
  { token, session: { address } }: SignedIn,
  { name, rdns }: Pick<Wallet, 'name' | 'rdns'>,
): Promise<Reply<StoredSession>> {
  const opened = await call<ConsoleSession>('/auth/console', { method: 'POST', token })
  if (!opened.ok) return opened
  const { sessionToken, sessionId, expiresAt } = opened.data
  return { ok: true, data: { sessionToken, sessionId, expiresAt, address, wallet: { name, rdns } } }
}

/** Opens a console session after a sign-in, and shows the console at the address of the window. */
export async function openConsole(
  signedIn: SignedIn,
  wallet: Pick<Wallet, 'name' | 'rdns'>,
  actions: ConsoleActions,
): Promise<void> {
  const isShown = show({
    title: 'Opening your account',
    body: [el('p', { class: 'waiting' }, 'Asking the host for a session of an hour.')],
  })
  const opened = await openSession(signedIn, wallet)
  if (!isShown()) return
  if (opened.ok) {
    storeSession(opened.data)
    return showConsole(opened.data, actions)
  }
  const { problem } = opened
  const again = (): unknown => actions.signAgain(next => void openConsole(next, wallet, actions))
  showFailure({
    title: 'Your account cannot be shown',
    text: ['You have signed in, and nothing else has happened.'],
    problem,
    actions: [
      ['Sign and try again', again],
      ['Choose another wallet', actions.startAgain],
    ],
  })
}

/** Shows the console of a session that has begun. */
export function showConsole(session: StoredSession, actions: ConsoleActions): void {
  let over = false
  let shell: Shell | undefined
  const stop = (): void => {
    over = true
    clearTimeout(timer)
    forgetSession()
    removeEventListener('hashchange', followAddress)
  }
  const reportExpired = (): void => showExpired(session, actions)
  const expired = (): void => {
    stop()
    // If another screen is open, such as a key that is shown once, it stays. The expiry is shown when the person returns to the
    // console.
    if (shell?.isShown()) reportExpired()
  }
  const signOut = async (): Promise<void> => {
    if (!(await endSession(session))) return showNotSignedOut(session, signOut, () => context.show())
    stop()
    history.replaceState(null, '', location.pathname)
    showSignedOut(actions)
  }
  // The clock of this browser may be ahead, so the session is also ended on the host.
  const endAtExpiry = (): void => {
    void endSession(session)
    expired()
  }
  // A new key is shown once: Back and Forward must not remove it.
  const followAddress = (): void => {
    if (!isConsoleAddress(location.hash) || isScreenHeld()) return
    if (shell?.isShown()) shell.follow()
    else context.show()
  }
  const timer = setTimeout(endAtExpiry, Math.max(0, Date.parse(session.expiresAt) - Date.now()))
  addEventListener('hashchange', followAddress)
  const calls = caller(session, expired)
  const context: ConsoleContext = {
    session,
    actions,
    call: calls,
    transactions: feedOf(calls),
    show() {
      if (over) reportExpired()
      else shell = mountShell(context, signOut)
    },
    open(page, row) {
      location.hash = addressOf(page, row === undefined ? {} : { row })
    },
    refresh: () => shell?.refresh(),
    filters: () => parseAddress(location.hash)?.query ?? new URLSearchParams(),
    setFilters: filters => shell?.setFilters(filters),
  }
  context.show()
}

function showExpired({ wallet }: StoredSession, actions: ConsoleActions): void {
  const signAgain = (): unknown => actions.signAgain(next => void openConsole(next, wallet, actions))
  show({
    title: 'Your session has ended',
    body: [
      el('p', {}, 'A sign-in lasts an hour, and can be ended from another tab.'),
      el('p', {}, 'Nothing was lost. Sign once more, and continue where you were.'),
      el(
        'div',
        { class: 'buttons' },
        button('Sign and continue', signAgain, 'primary'),
        button('Choose another wallet', actions.startAgain),
      ),
    ],
  })
}

function showNotSignedOut({ expiresAt }: StoredSession, retry: () => Promise<void>, back: () => void): void {
  show({
    title: 'You are not signed out',
    body: [
      el('p', {}, 'The host did not confirm that this sign-in has ended. Try again in a moment.'),
      el('p', {}, 'Otherwise it ends ', when(expiresAt), '.'),
      el(
        'div',
        { class: 'buttons' },
        button('Try again', retry, 'primary'),
        button('Back to your account', back),
      ),
    ],
  })
}

function showSignedOut({ startAgain }: ConsoleActions): void {
  show({
    title: 'You are signed out',
    body: [
      el('p', {}, 'The session of this page has ended. Your keys and programs go on working.'),
      el('div', { class: 'buttons' }, button('Sign in', startAgain, 'primary')),
    ],
  })
}
