import { short } from '../../shared/address.ts'
import { call } from '../../shared/api.ts'
import { button, el } from '../../shared/dom.ts'
import { when } from '../../shared/time.ts'
import { show, showFailure, type IsShown } from '../screen.ts'
import type { SignedIn } from '../sign-in.ts'
import {
  caller,
  endSession,
  feedOf,
  type ConsoleContext,
  type ConsoleSession,
  type ConsoleActions,
  type TabName,
} from './context.ts'
import { mountFrame } from './frame.ts'

export type { ConsoleActions } from './context.ts'

/** Shows that a wallet has signed in, and the choice between the two uses of this signature. */
export function showSignedIn(signedIn: SignedIn, actions: ConsoleActions): void {
  const { address, walletLabel } = signedIn.session
  show({
    title: 'You are signed in',
    body: [
      el(
        'dl',
        { class: 'facts' },
        el('dt', {}, 'Account'),
        el('dd', {}, short(address)),
        el('dt', {}, 'Wallet'),
        el('dd', {}, walletLabel ?? 'Without a name'),
      ),
      el(
        'p',
        {},
        'Open your account to see what happens in it, or create an API key for a program of yours.',
      ),
      el(
        'div',
        { class: 'buttons' },
        button('Open your account', () => openConsole(signedIn, actions), 'primary'),
        button('Create key', actions.createFirstKey),
      ),
      el('p', { class: 'small muted' }, 'One signature does one of both, within 10 minutes.'),
      button('Use another wallet', actions.startAgain, 'link'),
    ],
  })
}

/** Exchanges the web token of a sign-in for a console session, and shows the console. */
async function openConsole(
  signedIn: SignedIn,
  actions: ConsoleActions,
  tab: TabName = 'overview',
): Promise<void> {
  const isShown = show({
    title: 'Opening your account',
    body: [el('p', { class: 'waiting' }, 'Asking the host for a session of an hour.')],
  })
  const opened = await call<ConsoleSession>('/auth/console', { method: 'POST', token: signedIn.token })
  if (!isShown()) return
  if (opened.ok) return showConsole(signedIn.session.address, opened.data, actions, tab)
  const { problem } = opened
  const again = (): unknown => actions.signAgain(next => void openConsole(next, actions, tab))
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

function showConsole(
  address: string,
  session: ConsoleSession,
  actions: ConsoleActions,
  first: TabName,
): void {
  let tab = first
  let over = false
  let frame: IsShown = () => false
  const leaving = (event: PageTransitionEvent): void => {
    if (!event.persisted) void endSession(session)
  }
  const stop = (): void => {
    over = true
    clearTimeout(timer)
    removeEventListener('pagehide', leaving)
  }
  const reportExpired = (): void =>
    showExpired(actions, () => actions.signAgain(next => void openConsole(next, actions, tab)))
  const expired = (): void => {
    stop()
    // If another screen is open, such as a key that is shown once, it stays. The expiry is shown when the person returns to the
    // console.
    if (frame()) reportExpired()
  }
  const signOut = async (): Promise<void> => {
    if (!(await endSession(session))) return showNotSignedOut(session, signOut, () => context.show())
    stop()
    showSignedOut(actions)
  }
  // The clock of this browser may be ahead, so the session is also ended on the host.
  const endAtExpiry = (): void => {
    void endSession(session)
    expired()
  }
  const timer = setTimeout(endAtExpiry, Math.max(0, Date.parse(session.expiresAt) - Date.now()))
  addEventListener('pagehide', leaving)
  const calls = caller(session, expired)
  const context: ConsoleContext = {
    address,
    session,
    actions,
    call: calls,
    transactions: feedOf(calls),
    show: () => context.open(tab),
    remember(next) {
      tab = next
    },
    open(next) {
      tab = next
      if (over) reportExpired()
      else frame = mountFrame(context, tab, signOut)
    },
  }
  context.show()
}

function showExpired({ startAgain }: ConsoleActions, signAgain: () => unknown): void {
  for (const dialog of document.querySelectorAll('dialog')) dialog.close('no')
  show({
    title: 'Your session has ended',
    body: [
      el('p', {}, 'A session of this page lasts an hour, and can be ended from another one.'),
      el('p', {}, 'Nothing was lost. Sign once more, and go on where you were.'),
      el(
        'div',
        { class: 'buttons' },
        button('Sign and go on', signAgain, 'primary'),
        button('Choose another wallet', startAgain),
      ),
    ],
  })
}

function showNotSignedOut({ expiresAt }: ConsoleSession, retry: () => Promise<void>, back: () => void): void {
  show({
    title: 'You are not signed out',
    body: [
      el('p', {}, 'The host did not say that the session of this page has ended. Try again in a moment.'),
      el('p', {}, 'Else it ends by itself ', when(expiresAt), '.'),
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
