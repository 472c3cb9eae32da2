import { showFault, type Way } from './screen.ts'
import type { SignInFault } from './sign-in.ts'
import type { WalletFault } from './signer.ts'

const NOTHING = 'Nothing happened.'

/** The ways on from a fault of a sign-in. */
export interface FaultWays {
  readonly again: () => unknown
  readonly otherWallet: () => unknown
  /** Goes back to the account of who signed in before, in place of another wallet. */
  readonly back?: () => unknown
}

const wayOut = ({ otherWallet, back }: Omit<FaultWays, 'again'>): Way =>
  back ? ['Back to your account', back] : ['Choose another wallet', otherWallet]

/** Shows why a wallet did not connect or sign, and how to go on. */
export function showWalletFault(
  fault: WalletFault,
  wallet: string,
  doing: 'connect' | 'sign',
  { again, ...rest }: FaultWays,
): void {
  const elsewhere = wayOut(rest)
  const ways: Way[] = [['Try again', again], elsewhere]
  if (fault.kind === 'failed') {
    const text = [`${wallet} could not ${doing}. ${NOTHING}`, `It says: ${fault.message}`]
    showFault({ title: `Your wallet could not ${doing}`, text, ways })
  } else if (fault.kind === 'changed') {
    const text = [`${wallet} has turned to another account, or was disconnected. ${NOTHING}`]
    showFault({
      title: 'The account has changed',
      text: [...text, 'Start over with the account that it shows now.'],
      ways: [['Start over', again], elsewhere],
    })
  } else if (fault.kind === 'rejected') {
    const text = `${wallet} refused to ${doing}. ${NOTHING} Try again or choose another wallet.`
    const title = doing === 'sign' ? 'You did not sign' : 'Your wallet did not connect'
    showFault({ title, tone: 'warn', text: [text], ways })
  } else {
    const text = `${wallet} has a question open already. Open it, answer the question, and try again. ${NOTHING}`
    showFault({ title: 'Your wallet waits for an answer', tone: 'warn', text: [text], ways })
  }
}

/** Shows why nobody was signed in, and how to go on. */
export function showSignInFault(
  fault: Exclude<SignInFault, { kind: 'no-request' }>,
  { again, ...rest }: FaultWays,
): void {
  const elsewhere = wayOut(rest)
  const ways: Way[] = [['Try again', again], elsewhere]
  if (fault.kind === 'host') {
    showFault({ title: 'You are not signed in', text: [NOTHING], problem: fault.problem, ways })
  } else if (fault.kind === 'not-accepted') {
    const { chainId, problem } = fault
    const chain = chainId === null ? '' : ` It is on chain ${chainId} now.`
    const text = [
      `The host did not accept the signature. ${NOTHING}`,
      `A contract wallet, such as a Safe, must be on the chain where its contract is, and this host must know that chain.${chain} ` +
        'Switch the chain in the wallet and try again, or choose another wallet.',
    ]
    showFault({ title: 'The signature was not accepted', text, requestId: problem.requestId, ways })
  } else {
    const text = [`The text could be signed for 5 minutes. ${NOTHING}`, 'Try again to get a new one.']
    showFault({ title: 'The text to sign is too old', tone: 'warn', text, ways })
  }
}

/** Shows that the request of a command line is over. */
export function showRequestOver(
  cause: 'unknown' | 'wrong codes' | 'expired',
  signInHere: () => unknown,
): void {
  const causes = {
    unknown: 'It was approved or denied already, it is older than 10 minutes, or the link is wrong.',
    'wrong codes': 'Five codes were wrong, so the request has ended.',
    expired: 'It was open for 10 minutes and nobody approved it.',
  }
  showFault({
    title: cause === 'wrong codes' ? 'Too many wrong codes' : 'This sign-in is over',
    tone: 'warn',
    text: [
      `${causes[cause]} Nothing was signed.`,
      'Start again in your terminal: it shows a new link and a new code.',
    ],
    ways: [['Sign in here instead', signInHere]],
  })
}
