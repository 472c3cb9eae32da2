import { el } from '../shared/dom.ts'
import { inspectRequest } from './cli/request.ts'
import { openConsole, openSession, showConsole, type ConsoleActions } from './console/index.ts'
import { readStoredSession, storeSession, type StoredSession } from './console/stored-session.ts'
import { showRequestOver } from './failures.ts'
import { askToSign, chooseWallet, useTestWallet, type SignInFlow } from './sign-in-flow.ts'
import { createKey } from './key/create.ts'
import { showKyc } from './kyc.ts'
import { readPurpose, type Purpose } from './purpose.ts'
import { currentScreen, show, showFailure } from './screen.ts'
import type { SignedIn } from './sign-in.ts'
import { findSigner, type Signer } from './signer.ts'

/** Starts the page for the purpose that its address names. */
export function start(): void {
  const purpose = readPurpose()
  if (purpose.kind === 'cli') return void openRequest(purpose.requestId)
  const flow = accountFlow(purpose)
  const kept = readStoredSession()
  if (kept) return purpose.kind === 'kyc' ? void showKyc(kept, () => chooseWallet(flow)) : resume(kept, flow)
  return purpose.kind === 'account' && purpose.testWallet ? useTestWallet(flow) : chooseWallet(flow)
}

async function openRequest(requestId: string): Promise<void> {
  const isShown = show({
    title: 'Sign in a command line',
    body: [el('p', { class: 'waiting' }, 'Looking up the request.')],
  })
  const found = await inspectRequest(requestId)
  if (!isShown()) return
  if (found.ok) return chooseWallet({ ...cliFlow, request: { ...found.data, requestId } })
  if (found.problem.code === 'challenge_not_found') return showRequestOver('unknown', signInHere)
  showFailure({
    title: 'The request cannot be shown',
    text: ['Nothing was signed.'],
    problem: found.problem,
    actions: [['Try again', () => openRequest(requestId)]],
  })
}

function signInHere(): void {
  history.replaceState(null, '', location.pathname)
  start()
}

const cliFlow: SignInFlow = {
  title: 'Sign in a command line',
  intro:
    'A program in a terminal asks to use your account. Choose the wallet of the account that it should get.',
  signedIn: () => {},
  signInHere,
}

/** Makes the sign-in flow for the account, or for the status of the identity check. */
function accountFlow({ kind }: Purpose): SignInFlow {
  const flow: SignInFlow = {
    title: 'Sign in',
    intro:
      kind === 'kyc'
        ? 'Sign in to see your identity check. Choose your wallet.'
        : 'Choose your wallet. Signing is free and moves no money.',
    signedIn(signedIn, signer) {
      if (kind === 'kyc') return void openKyc(signedIn, signer, flow)
      const actions = consoleActions(flow, signedIn.session.address, signer)
      return void openConsole(signedIn, signer.wallet, actions)
    },
    signInHere,
  }
  return flow
}

/** Opens a session after a sign-in, as for the console, and shows the identity check of its account. */
async function openKyc(signedIn: SignedIn, { wallet }: Signer, flow: SignInFlow): Promise<void> {
  const signIn = (): void => chooseWallet(flow)
  const isShown = currentScreen()
  const opened = await openSession(signedIn, wallet)
  if (!isShown()) return undefined
  if (opened.ok) {
    storeSession(opened.data)
    return showKyc(opened.data, signIn)
  }
  showFailure({
    title: 'The state cannot be shown',
    text: ['Nothing has changed.'],
    problem: opened.problem,
    actions: [['Sign in again', signIn]],
  })
  return undefined
}

/** Shows the console of the session that this tab kept over a reload. */
function resume(session: StoredSession, flow: SignInFlow): void {
  showConsole(session, consoleActions(flow, session.address, session.wallet))
}

/** Makes what the console asks of the page. After a reload only the name of the wallet is known, and it is found again. */
function consoleActions(
  flow: SignInFlow,
  account: string,
  signer: Signer | StoredSession['wallet'],
): ConsoleActions {
  const startAgain = (): void => chooseWallet(flow)
  // Signs again and continues with what the person typed.
  const signAgain: ConsoleActions['signAgain'] = async (next, back) => {
    const again = { ...flow, account, signedIn: next, ...(back ? { back } : {}) }
    const isShown = currentScreen()
    const found = 'wallet' in signer ? signer : await findSigner(signer, account)
    if (!isShown()) return undefined
    return found ? askToSign(again, found) : chooseWallet(again)
  }
  return {
    signAgain,
    startAgain,
    createKey: back =>
      createKey({
        signAgain: next => signAgain(next, back),
        cancel: back,
        after: ['Back to your account', back],
      }),
  }
}
