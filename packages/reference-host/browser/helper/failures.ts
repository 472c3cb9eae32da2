import { showFailure, type Action } from './screen.ts'
import type { SignInFailure } from './sign-in.ts'
import type { WalletFailure } from './signer.ts'

const NOTHING = 'Nothing happened.'

/** What a person can do after a failed sign-in. */
export interface FailureActions {
  readonly again: () => unknown
  readonly otherWallet: () => unknown
  /** Returns to the account that was signed in before; replaces the choice of another wallet. */
  readonly back?: () => unknown
}

const fallbackActions = ({ otherWallet, back }: Omit<FailureActions, 'again'>): Action =>
  back ? ['Back to your account', back] : ['Choose another wallet', otherWallet]

/** Shows why a wallet did not connect or sign, and what to do next. */
export function showWalletFailure(
  failure: WalletFailure,
  wallet: string,
  doing: 'connect' | 'sign',
  { again, ...rest }: FailureActions,
): void {
  const elsewhere = fallbackActions(rest)
  const actions: Action[] = [['Try again', again], elsewhere]
  if (failure.kind === 'failed') {
    const text = [`${wallet} could not ${doing}. ${NOTHING}`, `It says: ${failure.message}`]
    showFailure({ title: `Your wallet could not ${doing}`, text, actions })
  } else if (failure.kind === 'changed') {
    const text = [`${wallet} has turned to another account, or was disconnected. ${NOTHING}`]
    showFailure({
      title: 'The account has changed',
      text: [...text, 'Start over with the account that it shows now.'],
      actions: [['Start over', again], elsewhere],
    })
  } else if (failure.kind === 'rejected') {
    const text = `${wallet} refused to ${doing}. ${NOTHING} Try again or choose another wallet.`
    const title = doing === 'sign' ? 'You did not sign' : 'Your wallet did not connect'
    showFailure({ title, tone: 'warn', text: [text], actions })
  } else {
    const text = `${wallet} has a question open already. Open it, answer the question, and try again. ${NOTHING}`
    showFailure({ title: 'Your wallet waits for an answer', tone: 'warn', text: [text], actions })
  }
}

/** Shows that the wallet has turned to another account than the one that is signed in. */
export function showOtherAccount(account: string, wallet: string, { again, ...rest }: FailureActions): void {
  showFailure({
    title: 'The wallet shows another account',
    tone: 'warn',
    text: [
      `${wallet} must sign with the account that is signed in here: ${account}. ${NOTHING}`,
      'Switch to that account in the wallet and try again.',
    ],
    actions: [['Try again', again], fallbackActions(rest)],
  })
}

/** Shows why a sign-in failed, and what to do next. */
export function showSignInFailure(
  failure: Exclude<SignInFailure, { kind: 'no-request' }>,
  { again, ...rest }: FailureActions,
): void {
  const elsewhere = fallbackActions(rest)
  const actions: Action[] = [['Try again', again], elsewhere]
  if (failure.kind === 'host') {
    showFailure({ title: 'You are not signed in', text: [NOTHING], problem: failure.problem, actions })
  } else if (failure.kind === 'not-accepted') {
    const { chainId, problem } = failure
    const chain = chainId === null ? '' : ` It is on chain ${chainId} now.`
    const text = [
      `The host did not accept the signature. ${NOTHING}`,
      `A contract wallet, such as a Safe, must be on the chain where its contract is, and this host must know that chain.${chain} ` +
        'Switch the chain in the wallet and try again, or choose another wallet.',
    ]
    showFailure({ title: 'The signature was not accepted', text, requestId: problem.requestId, actions })
  } else {
    const text = [`The text could be signed for 5 minutes. ${NOTHING}`, 'Try again to get a new one.']
    showFailure({ title: 'The text to sign is too old', tone: 'warn', text, actions })
  }
}

/** Shows that the request of a command line has ended. */
export function showRequestOver(
  cause: 'unknown' | 'wrong codes' | 'expired',
  signInHere: () => unknown,
): void {
  const causes = {
    unknown: 'It was approved or denied already, it is older than 10 minutes, or the link is wrong.',
    'wrong codes': 'Five codes were wrong, so the request has ended.',
    expired: 'It was open for 10 minutes and nobody approved it.',
  }
  showFailure({
    title: cause === 'wrong codes' ? 'Too many wrong codes' : 'This sign-in is over',
    tone: 'warn',
    text: [
      `${causes[cause]} Nothing was signed.`,
      'Start again in your terminal: it shows a new link and a new code.',
    ],
    actions: [['Sign in here instead', signInHere]],
  })
}
