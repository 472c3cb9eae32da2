import { el } from '../shared/dom.ts'
import { inspectRequest } from './cli/request.ts'
import { showSignedIn, type ConsoleActions } from './console/index.ts'
import { showRequestOver } from './failures.ts'
import { askToSign, chooseWallet, type SignInFlow } from './sign-in-flow.ts'
import { createKey } from './key/create.ts'
import { showKyc } from './kyc.ts'
import { readPurpose, type Purpose } from './purpose.ts'
import { show, showFailure } from './screen.ts'
import type { SignedIn } from './sign-in.ts'
import type { Signer } from './signer.ts'

/** Starts the page for the purpose that its address names. */
export function start(): void {
  const purpose = readPurpose()
  if (purpose.kind === 'cli') void openRequest(purpose.requestId)
  else chooseWallet(accountFlow(purpose))
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
        ? 'Sign in to see how far the check of your identity is. Choose your wallet.'
        : 'Choose your wallet. Signing in costs nothing, and moves no money by itself.',
    signedIn: (signedIn, signer) => (kind === 'kyc' ? showKyc : showConsole)(signedIn, signer, flow),
    signInHere,
  }
  return flow
}

function showConsole(signedIn: SignedIn, signer: Signer, flow: SignInFlow): void {
  const startAgain = (): void => chooseWallet(flow)
  // Signs again and continues with what the person typed.
  const signAgain: ConsoleActions['signAgain'] = (next, back) =>
    askToSign({ ...flow, signedIn: next, ...(back ? { back } : {}) }, signer)
  showSignedIn(signedIn, {
    signAgain,
    startAgain,
    createFirstKey: () => createKey(signedIn, { signAgain: next => signAgain(next), startAgain }),
    createKey: back =>
      createKey(undefined, {
        signAgain: next => signAgain(next, back),
        startAgain: back,
        after: ['Back to your account', back],
      }),
  })
}
