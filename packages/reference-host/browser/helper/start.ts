import { el } from '../shared/dom.ts'
import { inspectRequest } from './cli/request.ts'
import { showSignedIn, type ConsoleWays } from './console/index.ts'
import { showRequestOver } from './faults.ts'
import { askToSign, chooseWallet, type Journey } from './journey.ts'
import { createKey } from './key/create.ts'
import { showKyc } from './kyc.ts'
import { readPurpose, type Purpose } from './purpose.ts'
import { show, showFault } from './screen.ts'
import type { SignedIn } from './sign-in.ts'
import type { Signer } from './signer.ts'

/** Starts the page for what its address asks. */
export function start(): void {
  const purpose = readPurpose()
  if (purpose.kind === 'cli') void openRequest(purpose.requestId)
  else chooseWallet(accountJourney(purpose))
}

async function openRequest(requestId: string): Promise<void> {
  const isShown = show({
    title: 'Sign in a command line',
    body: [el('p', { class: 'waiting' }, 'Looking up the request.')],
  })
  const found = await inspectRequest(requestId)
  if (!isShown()) return
  if (found.ok) return chooseWallet({ ...cliJourney, request: { ...found.data, requestId } })
  if (found.problem.code === 'challenge_not_found') return showRequestOver('unknown', signInHere)
  showFault({
    title: 'The request cannot be shown',
    text: ['Nothing was signed.'],
    problem: found.problem,
    ways: [['Try again', () => openRequest(requestId)]],
  })
}

function signInHere(): void {
  history.replaceState(null, '', location.pathname)
  start()
}

const cliJourney: Journey = {
  title: 'Sign in a command line',
  intro:
    'A program in a terminal asks to use your account. Choose the wallet of the account that it should get.',
  signedIn: () => {},
  signInHere,
}

/** The way of a person who comes for the account, or for the state of the identity check. */
function accountJourney({ kind }: Purpose): Journey {
  const journey: Journey = {
    title: 'Sign in',
    intro:
      kind === 'kyc'
        ? 'Sign in to see how far the check of your identity is. Choose your wallet.'
        : 'Choose your wallet. Signing in costs nothing, and moves no money by itself.',
    signedIn: (signedIn, signer) => (kind === 'kyc' ? showKyc : showConsole)(signedIn, signer, journey),
    signInHere,
  }
  return journey
}

function showConsole(signedIn: SignedIn, signer: Signer, journey: Journey): void {
  const startAgain = (): void => chooseWallet(journey)
  // One signature, and on with what was typed.
  const signAgain: ConsoleWays['signAgain'] = (next, back) =>
    askToSign({ ...journey, signedIn: next, ...(back ? { back } : {}) }, signer)
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
