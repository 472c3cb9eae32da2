import { sentence, type Problem } from '../shared/api.ts'
import { el } from '../shared/dom.ts'
import { showAccount, showConnecting, showSigning } from './account.ts'
import { showCheck } from './cli/check.ts'
import { showApproved, showDenied } from './cli/done.ts'
import { denyRequest, inspectRequest, type CliRequest } from './cli/request.ts'
import { showRequestOver, showSignInFault, showWalletFault, type FaultWays } from './faults.ts'
import { showPick } from './pick.ts'
import { currentScreen, type IsShown } from './screen.ts'
import {
  getChallenge,
  logIn,
  type ApprovedRequest,
  type LoggedIn,
  type SignedIn,
  type TextToSign,
} from './sign-in.ts'
import { connect, sign, watchAccount, type Signer, type WalletFault } from './signer.ts'
import type { Wallet } from './wallets.ts'

/** A request of a command line that this page was opened for. */
interface OpenRequest extends CliRequest {
  readonly requestId: string
}

/** A way through the page, from the choice of a wallet to a sign-in. */
export interface Journey {
  /** What the first screen says, such as "Sign in". */
  readonly title: string
  readonly intro: string
  readonly request?: OpenRequest
  /** What follows a sign-in without a command line. */
  readonly signedIn: (signedIn: SignedIn, signer: Signer) => void
  /** Where to go back to for who does not sign, in place of the start. */
  readonly back?: () => void
  /** Starts the page for an account instead of a command line. */
  readonly signInHere: () => void
}

/** Stops to watch the account of the last wallet. */
let unwatch = (): void => {}
/** How long to wait at least before the host is asked again whether a request is over. */
const ASK_AGAIN_MS = 5000

const stepOf = (journey: Journey, number: number, what: string): string =>
  `Step ${number} of ${journey.request ? 3 : 2}: ${what}`

/** Begins with the choice of a wallet. */
export function chooseWallet(journey: Journey): void {
  unwatch()
  showPick({
    title: journey.title,
    step: stepOf(journey, 1, 'choose a wallet'),
    intro: [el('p', {}, journey.intro)],
    chosen: wallet => void connectWallet(journey, wallet),
  })
}

async function connectWallet(journey: Journey, wallet: Wallet): Promise<void> {
  unwatch()
  const ways = waysOf(journey, () => connectWallet(journey, wallet))
  const step = stepOf(journey, 1, 'choose a wallet')
  const isShown = showConnecting(wallet.name, step, () => chooseWallet(journey))
  const asked = await connect(wallet)
  if (!isShown()) return
  if (!asked.ok) showWalletFault(asked.fault, wallet.name, 'connect', ways)
  else useSigner(journey, asked.value)
}

const waysOf = (journey: Journey, again: () => unknown): FaultWays => ({
  again,
  otherWallet: () => chooseWallet(journey),
  ...(journey.back ? { back: journey.back } : {}),
})

function useSigner(journey: Journey, signer: Signer): void {
  unwatch = watchAccount(signer, () => {
    unwatch()
    const again = (): unknown => connectWallet(journey, signer.wallet)
    showWalletFault({ kind: 'changed' }, signer.wallet.name, 'sign', waysOf(journey, again))
  })
  beforeSigning(journey, signer)
}

/** The screen on which a person decides to sign. */
function beforeSigning(journey: Journey, signer: Signer): void {
  const { request } = journey
  if (request) return confirmRequest(journey, signer, request)
  showAccount(signer, stepOf(journey, 2, 'sign'), {
    signIn: () => askToSign(journey, signer),
    otherWallet: () => chooseWallet(journey),
  })
}

function confirmRequest(journey: Journey, signer: Signer, request: OpenRequest, wrong?: string): void {
  const { requestId } = request
  const isShown: IsShown = showCheck({
    request,
    account: signer.address,
    wrong,
    approve: code => askToSign(journey, signer, { requestId, code }),
    deny: async code => {
      const denied = code === undefined ? undefined : await denyRequest(requestId, code)
      return !denied || denied.ok
        ? leave(() => showDenied(denied !== undefined))
        : wrongCode(journey, request, denied.problem)
    },
  })
  endWithRequest(journey, request, isShown)
}

/**
 * Shows that the request is over once the host says so. The clock of this browser, which may be wrong, only decides when the host is
 * asked first.
 */
function endWithRequest(
  journey: Journey,
  request: OpenRequest,
  isShown: IsShown,
  wait: number = Date.parse(request.expiresAt) - Date.now(),
): void {
  const ask = async (): Promise<void> => {
    if (!isShown()) return
    const found = await inspectRequest(request.requestId)
    if (!isShown()) return
    const problem = found.ok ? undefined : found.problem
    if (problem?.code === 'challenge_not_found')
      return leave(() => showRequestOver('expired', journey.signInHere))
    const pause = (problem?.retryAfterSeconds ?? 0) * 1000
    endWithRequest(journey, request, isShown, pause)
  }
  setTimeout(() => void ask(), Math.max(ASK_AGAIN_MS, wait))
}

/** Ends the watch over the wallet and shows a last screen. */
function leave(last: () => void): undefined {
  unwatch()
  last()
}

/** What to say where the host found no open request with the code that was typed. The fifth wrong one ends the request. */
async function wrongCode(
  journey: Journey,
  request: OpenRequest,
  problem: Problem,
): Promise<string | undefined> {
  const found = problem.code === 'challenge_not_found' && (await inspectRequest(request.requestId))
  if (!found) return sentence(problem)
  if (found.ok) return 'This is not the code that your terminal shows. Check each character and try again.'
  if (found.problem.code !== 'challenge_not_found') return sentence(found.problem)
  const isOld = Date.now() >= Date.parse(request.expiresAt)
  return leave(() => showRequestOver(isOld ? 'expired' : 'wrong codes', journey.signInHere))
}

/**
 * Lets the wallet sign, and signs in. Resolves to what is wrong with the code, where the screen before stays; else to undefined,
 * with another screen shown. Nothing is shown once the screen was left on which a person asked for it.
 */
export async function askToSign(
  journey: Journey,
  given: Signer,
  approved?: ApprovedRequest,
): Promise<string | undefined> {
  const again = async (): Promise<void> => {
    const wrong = await askToSign(journey, given, approved)
    if (wrong !== undefined) confirmRequest(journey, given, journey.request as OpenRequest, wrong)
  }
  const ways = waysOf(journey, again)
  const isShown = currentScreen()
  const got = await getChallenge(given, approved)
  if (!isShown()) return undefined
  if (got.ok) await signText(journey, got.value, approved?.code, ways)
  else if (got.problem.code === 'challenge_not_found' && journey.request)
    return wrongCode(journey, journey.request, got.problem)
  else showSignInFault({ kind: 'host', problem: got.problem }, ways)
  return undefined
}

async function signText(
  journey: Journey,
  { signer, challenge }: TextToSign,
  code: string | undefined,
  ways: FaultWays,
): Promise<void> {
  const isShown = showSigning(signer.wallet.name, challenge.message, {
    step: journey.back ? 'One more signature' : stepOf(journey, journey.request ? 3 : 2, 'sign'),
    code,
    cancel: journey.back ?? (() => beforeSigning(journey, signer)),
  })
  const signed = await sign(signer, challenge.message)
  // Who left the screen no longer wants it, whatever the wallet has signed by now.
  if (!isShown()) return
  if (!signed.ok) return showNotSigned(journey, signer, signed.fault, ways)
  const result = await logIn(signer, challenge, signed.value)
  if (!isShown()) return
  if (result.ok) return leave(() => finish(journey, signer, result.value))
  const { fault } = result
  if (fault.kind === 'no-request') leave(() => showRequestOver('unknown', journey.signInHere))
  else showSignInFault(fault, ways)
}

function showNotSigned(journey: Journey, signer: Signer, fault: WalletFault, ways: FaultWays): void {
  const { wallet } = signer
  const startOver = waysOf(journey, () => connectWallet(journey, wallet))
  showWalletFault(fault, wallet.name, 'sign', fault.kind === 'changed' ? startOver : ways)
}

function finish(journey: Journey, signer: Signer, { token, session }: LoggedIn): void {
  if (token === undefined) showApproved(signer.address)
  else journey.signedIn({ token, session: { ...session, address: signer.address } }, signer)
}
