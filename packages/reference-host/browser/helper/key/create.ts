import { call } from '../../shared/api.ts'
import { showFault, type Way } from '../screen.ts'
import type { SignedIn } from '../sign-in.ts'
import { FIRST_WISH, showKeyForm, type KeyWish } from './form.ts'
import { showNewKey, type NewKey } from './new-key.ts'

/** How the form goes on where the sign-in has ended. */
export interface KeyWays {
  /** Asks the same account for one more signature, and goes on with the new sign-in. */
  readonly signAgain: (next: (signedIn: SignedIn) => void) => unknown
  readonly startAgain: () => void
  /** What follows a key that was stored. */
  readonly after?: Way
}

/**
 * Lets a person make a key, from the form to the key that is shown once. Without a sign-in whose token is unused, the wallet signs
 * after the form.
 */
export function createKey(signedIn: SignedIn | undefined, ways: KeyWays, wish: KeyWish = FIRST_WISH): void {
  const create = async (wish: KeyWish): Promise<unknown> =>
    signedIn ? send(signedIn, ways, wish) : ways.signAgain(next => void send(next, ways, wish))
  showKeyForm(wish, { create, cancel: ways.startAgain })
}

async function send({ token, session }: SignedIn, ways: KeyWays, wish: KeyWish): Promise<void> {
  const body = {
    ...(wish.choice === 'all' ? {} : { scopes: wish.scopes }),
    ...(Object.keys(wish.caps).length === 0 ? {} : { policy: wish.caps }),
  }
  const made = await call<NewKey>('/identity/user-api-keys', { body, token })
  if (made.ok)
    return showNewKey(made.data, session.address, ways.after ?? ['Create another key', ways.startAgain])
  const { problem } = made
  const back = (): unknown => ways.signAgain(next => createKey(next, ways, wish))
  const again: Way = ['Sign in and go on', back]
  if (problem.status === 401) {
    const text = [
      'No key was created. A sign-in lasts 10 minutes and makes one key.',
      'What you typed is kept: sign once more.',
    ]
    showFault({ title: 'Your sign-in has ended', tone: 'warn', text, ways: [again] })
  } else if (problem.status === 0 || problem.status >= 500) {
    const text = [
      'It is not known whether the key was created. If it was, nobody has seen it, and nobody can use it.',
    ]
    showFault({ title: 'The key cannot be shown', text, problem, ways: [again] })
  } else {
    const text = ['No key was created.']
    const change: Way = ['Change what the key may do', () => createKey({ token, session }, ways, wish)]
    showFault({ title: 'The key was refused', text, problem, ways: problem.rule ? [again] : [change] })
  }
}
