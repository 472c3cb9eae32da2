import { call } from '../../shared/api.ts'
import { el } from '../../shared/dom.ts'
import { show, showFailure, type Action } from '../screen.ts'
import type { SignedIn } from '../sign-in.ts'
import { keyForm } from './form.ts'
import { showNewKey, type NewKey } from './new-key.ts'
import type { KeyRequest } from './preview.ts'

/** What to do when the sign-in has ended, and after the key was stored. */
export interface KeyActions {
  /** Asks the account for a signature, and continues with the new sign-in. */
  readonly signAgain: (next: (signedIn: SignedIn) => void) => unknown
  readonly cancel: () => void
  /** What a person can do after storing the key. */
  readonly after: Action
}

/** Lets a person create a key: shows the form, lets the wallet sign, and shows the key once. */
export function createKey(actions: KeyActions): void {
  /** A sign-in that was not used up, because the host refused what was typed. */
  let unused: SignedIn | undefined
  const create = async (request: KeyRequest): Promise<unknown> => {
    const signedIn = unused
    unused = undefined
    if (signedIn) return send(signedIn, request)
    return actions.signAgain(next => void send(next, request))
  }
  const form = keyForm({ create, cancel: actions.cancel })
  const showForm = (): void => {
    show({
      title: 'Create a key',
      width: 'widest',
      body: [el('p', {}, 'A key lets a program use your account. You can revoke it at any time.'), form],
    })
  }
  const send = async (signedIn: SignedIn, body: KeyRequest): Promise<void> => {
    const made = await call<NewKey>('/identity/user-api-keys', { body, token: signedIn.token })
    if (made.ok) return showNewKey(made.data, signedIn.session.address, actions.after)
    const { problem } = made
    const back = (): unknown =>
      actions.signAgain(next => {
        unused = next
        showForm()
      })
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
      const change = (): void => {
        unused = signedIn
        showForm()
      }
      const actions: Action[] = problem.rule ? [again] : [['Change what the key may do', change]]
      showFailure({ title: 'The key was refused', text, problem, actions })
    }
  }
  showForm()
}
