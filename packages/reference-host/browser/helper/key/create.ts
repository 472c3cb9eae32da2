import { call } from '../../shared/api.ts'
import { showFailure, type Action } from '../screen.ts'
import type { SignedIn } from '../sign-in.ts'
import { INITIAL_VALUES, showKeyForm, type KeyFormValues } from './form.ts'
import { showNewKey, type NewKey } from './new-key.ts'

/** What to do when the sign-in has ended, and after the key was stored. */
export interface KeyActions {
  /** Asks the same account for another signature, and continues with the new sign-in. */
  readonly signAgain: (next: (signedIn: SignedIn) => void) => unknown
  readonly startAgain: () => void
  /** What a person can do after storing the key. */
  readonly after: Action
}

/**
 * Lets a person create a key: shows the form, then the key, once. Without `signedIn`, an unused sign-in, the wallet signs after
 * the form.
 */
export function createKey(
  signedIn: SignedIn | undefined,
  actions: KeyActions,
  values: KeyFormValues = INITIAL_VALUES,
): void {
  const create = async (values: KeyFormValues): Promise<unknown> =>
    signedIn ? send(signedIn, actions, values) : actions.signAgain(next => void send(next, actions, values))
  showKeyForm(values, { create, cancel: actions.startAgain })
}

async function send({ token, session }: SignedIn, actions: KeyActions, values: KeyFormValues): Promise<void> {
  const body = {
    ...(values.label === '' ? {} : { label: values.label }),
    ...(values.choice === 'all' ? {} : { scopes: values.scopes }),
    ...(Object.keys(values.caps).length === 0 ? {} : { policy: values.caps }),
  }
  const made = await call<NewKey>('/identity/user-api-keys', { body, token })
  if (made.ok) return showNewKey(made.data, session.address, actions.after)
  const { problem } = made
  const back = (): unknown => actions.signAgain(next => createKey(next, actions, values))
  const again: Action = ['Sign in and go on', back]
  if (problem.status === 401) {
    const text = [
      'No key was created. A sign-in lasts 10 minutes and makes one key.',
      'What you typed is kept: sign once more.',
    ]
    showFailure({ title: 'Your sign-in has ended', tone: 'warn', text, actions: [again] })
  } else if (problem.status === 0 || problem.status >= 500) {
    const text = [
      'It is not known whether the key was created. If it was, nobody has seen it, and nobody can use it.',
    ]
    showFailure({ title: 'The key cannot be shown', text, problem, actions: [again] })
  } else {
    const text = ['No key was created.']
    const change: Action = [
      'Change what the key may do',
      () => createKey({ token, session }, actions, values),
    ]
    showFailure({ title: 'The key was refused', text, problem, actions: problem.rule ? [again] : [change] })
  }
}
