import { short } from '../../shared/address.ts'
import { el } from '../../shared/dom.ts'
import { announce } from '../../shared/live.ts'
import { show } from '../screen.ts'

const CLOSE = 'You can close this window.'

/** Shows that a command line is signed in. */
export function showApproved(address: string): void {
  show({
    title: 'Go back to your terminal',
    body: [
      el('div', { class: 'note ok' }, el('p', {}, 'It is signed in as ', short(address), '.')),
      el('p', {}, CLOSE),
    ],
  })
  announce('The command line is signed in.')
}

/** Shows that a command line was not signed in. `ended`: whether the host ended the request, for which it needs the code. */
export function showDenied(ended: boolean): void {
  const rest = ended
    ? 'The request has ended, and nobody can approve it any more.'
    : 'Without the code the host cannot end the request. It ends by itself 10 minutes after it began.'
  show({
    title: 'You denied the sign-in',
    body: [el('div', { class: 'note ok' }, el('p', {}, `Nothing was signed. ${rest}`)), el('p', {}, CLOSE)],
  })
  announce('The sign-in is denied.')
}
