import { sentence, type Problem } from '../shared/api.ts'
import { el } from '../shared/dom.ts'
import { showAccount, showConnecting, showSigning } from './account.ts'
import { showCheck } from './cli/check.ts'
import { showApproved, showDenied } from './cli/done.ts'
import { denyRequest, inspectRequest, type CliRequest } from './cli/request.ts'
import {
  showOtherAccount,
  showRequestOver,
  showSignInFailure,
  showWalletFailure,
  type FailureActions,
} from './failures.ts'
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
import { connect, isAccount, sign, watchAccount, type Signer, type WalletFailure } from './signer.ts'
import { isTestWallet, offersTestWallet, openTestWallet } from './test-wallet.ts'
import type { Wallet } from './wallets.ts'

/** The request of a command line for which this page was opened. */
interface OpenRequest extends CliRequest {
  readonly requestId: string
}

/** A sign-in, from the choice of a wallet to its result. */
export interface SignInFlow {
  /** The title of the first screen, such as "Sign in". */
  readonly title: string
  readonly intro: string
  readonly request?: OpenRequest
  /** The account that must sign, if one is signed in already. */
  readonly account?: string
  /** Called after a sign-in for the account. */
  readonly signedIn: (signedIn: SignedIn, signer: Signer) => void
  /** Called if the person does not sign. Default: the start of the flow. */
  readonly back?: () => void
  /** Starts the flow for an account instead of a command line. */
  readonly signInHere: () => void
}

/** Stops watching the account of the last wallet. */
let unwatch = (): void => {}
/** Minimum pause between two checks whether a request has ended. */
const ASK_AGAIN_MS = 5000

const stepOf = (flow: SignInFlow, number: number, what: string): string =>
  `Step ${number} of ${flow.request ? 3 : 2}: ${what}`

/** Starts the flow with the choice of a wallet. */
export function chooseWallet(flow: SignInFlow): void {
  unwatch()
  const isOffered = offersTestWallet() && flow.account === undefined
  showPick({
    title: flow.title,
    step: stepOf(flow, 1, 'choose a wallet'),
    intro: [el('p', {}, flow.intro)],
    chosen: wallet => void connectWallet(flow, wallet),
    ...(isOffered ? { useTestWallet: async () => connectWallet(flow, await openTestWallet()) } : {}),
  })
}

/** Signs in with a test wallet at once. Where the host offers none, a wallet is chosen. */
export function useTestWallet(flow: SignInFlow): void {
  if (!offersTestWallet()) return chooseWallet(flow)
  void openTestWallet().then(wallet => connectWallet(flow, wallet))
}

async function connectWallet(flow: SignInFlow, wallet: Wallet): Promise<void> {
  unwatch()
  const actions = actionsOf(flow, () => connectWallet(flow, wallet))
  const step = stepOf(flow, 1, 'choose a wallet')
  const isShown = showConnecting(wallet.name, step, () => chooseWallet(flow))
  const asked = await connect(wallet)
  if (!isShown()) return
  if (!asked.ok) showWalletFailure(asked.failure, wallet.name, 'connect', actions)
  else if (flow.account !== undefined && !isAccount(asked.value, flow.account))
    showOtherAccount(flow.account, wallet.name, actions)
  else useSigner(flow, asked.value)
}

const actionsOf = (flow: SignInFlow, again: () => unknown): FailureActions => ({
  again,
  otherWallet: () => chooseWallet(flow),
  ...(flow.back ? { back: flow.back } : {}),
})

function useSigner(flow: SignInFlow, signer: Signer): void {
  unwatch = watchAccount(signer, () => {
    unwatch()
    const again = (): unknown => connectWallet(flow, signer.wallet)
    showWalletFailure({ kind: 'changed' }, signer.wallet.name, 'sign', actionsOf(flow, again))
  })
  beforeSigning(flow, signer)
}

/** Shows the screen on which a person decides whether to sign. */
function beforeSigning(flow: SignInFlow, signer: Signer): void {
  const { request } = flow
  if (request) return confirmRequest(flow, signer, request)
  // It has no prompt of its own, and the person has chosen it for this sign-in.
  if (isTestWallet(signer.wallet)) return void askToSign(flow, signer)
  showAccount(signer, stepOf(flow, 2, 'sign'), {
    signIn: () => askToSign(flow, signer),
    otherWallet: () => chooseWallet(flow),
  })
}

function confirmRequest(flow: SignInFlow, signer: Signer, request: OpenRequest, wrong?: string): void {
  const { requestId } = request
  const isShown: IsShown = showCheck({
    request,
    account: signer.address,
    wrong,
    approve: (code, lowerTo) => askToSign(flow, signer, { requestId, code, lowerTo }),
    deny: async code => {
      const denied = code === undefined ? undefined : await denyRequest(requestId, code)
      return !denied || denied.ok
        ? leave(() => showDenied(denied !== undefined))
        : wrongCode(flow, request, denied.problem)
    },
  })
  endWithRequest(flow, request, isShown)
}

/**
 * Shows that the request has ended, once the host says so. The clock of this browser, which may be wrong, only decides when to
 * ask the host first.
 */
function endWithRequest(
  flow: SignInFlow,
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
      return leave(() => showRequestOver('expired', flow.signInHere))
    const pause = (problem?.retryAfterSeconds ?? 0) * 1000
    endWithRequest(flow, request, isShown, pause)
  }
  setTimeout(() => void ask(), Math.max(ASK_AGAIN_MS, wait))
}

/** Stops watching the wallet and shows a last screen. */
function leave(last: () => void): undefined {
  unwatch()
  last()
}

/** Returns the error text after the host found no open request with the typed code. The fifth wrong code ends the request. */
async function wrongCode(
  flow: SignInFlow,
  request: OpenRequest,
  problem: Problem,
): Promise<string | undefined> {
  const found = problem.code === 'challenge_not_found' && (await inspectRequest(request.requestId))
  if (!found) return sentence(problem)
  if (found.ok) return 'This is not the code that your terminal shows. Check each character and try again.'
  if (found.problem.code !== 'challenge_not_found') return sentence(found.problem)
  const isOld = Date.now() >= Date.parse(request.expiresAt)
  return leave(() => showRequestOver(isOld ? 'expired' : 'wrong codes', flow.signInHere))
}

/**
 * Lets the wallet sign, and signs in. Resolves to an error text if the typed code is wrong, so that the previous screen can
 * show it; otherwise to undefined after it has shown another screen. If the person has left its screen meanwhile, it shows
 * nothing.
 */
export async function askToSign(
  flow: SignInFlow,
  given: Signer,
  approved?: ApprovedRequest,
): Promise<string | undefined> {
  const again = async (): Promise<void> => {
    const wrong = await askToSign(flow, given, approved)
    if (wrong !== undefined) confirmRequest(flow, given, flow.request as OpenRequest, wrong)
  }
  const actions = actionsOf(flow, again)
  const isShown = currentScreen()
  const got = await getChallenge(given, approved)
  if (!isShown()) return undefined
  if (got.ok) await signText(flow, got.value, approved?.code, actions)
  else if (got.problem.code === 'challenge_not_found' && flow.request)
    return wrongCode(flow, flow.request, got.problem)
  else showSignInFailure({ kind: 'host', problem: got.problem }, actions)
  return undefined
}

async function signText(
  flow: SignInFlow,
  { signer, challenge }: TextToSign,
  code: string | undefined,
  actions: FailureActions,
): Promise<void> {
  const isShown = showSigning(signer.wallet.name, challenge.message, {
    step: flow.back ? 'One more signature' : stepOf(flow, flow.request ? 3 : 2, 'sign'),
    code,
    cancel: flow.back ?? (() => beforeSigning(flow, signer)),
  })
  const signed = await sign(signer, challenge.message)
  // The person has left the screen, so the signature is not used.
  if (!isShown()) return
  if (!signed.ok) return showNotSigned(flow, signer, signed.failure, actions)
  const result = await logIn(signer, challenge, signed.value)
  if (!isShown()) return
  if (result.ok) return leave(() => finish(flow, signer, result.value))
  const { failure } = result
  if (failure.kind === 'no-request') leave(() => showRequestOver('unknown', flow.signInHere))
  else showSignInFailure(failure, actions)
}

function showNotSigned(
  flow: SignInFlow,
  signer: Signer,
  failure: WalletFailure,
  actions: FailureActions,
): void {
  const { wallet } = signer
  const startOver = actionsOf(flow, () => connectWallet(flow, wallet))
  showWalletFailure(failure, wallet.name, 'sign', failure.kind === 'changed' ? startOver : actions)
}

function finish(flow: SignInFlow, signer: Signer, { token, session }: LoggedIn): void {
  if (token === undefined) showApproved(signer.address)
  else flow.signedIn({ token, session: { ...session, address: signer.address } }, signer)
}
