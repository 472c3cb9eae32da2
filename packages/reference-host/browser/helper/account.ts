import { short } from '../shared/address.ts'
import { button, el, whileSending, type Child } from '../shared/dom.ts'
import { readHost } from '../shared/host.ts'
import { show, type IsShown } from './screen.ts'
import type { Signer } from './signer.ts'

/** Shows the account of the wallet, before anything is signed. */
export function showAccount(
  { address, wallet }: Signer,
  step: string,
  { signIn, otherWallet }: { readonly signIn: () => Promise<unknown>; readonly otherWallet: () => void },
): void {
  const yes = el('button', { type: 'button', class: 'button primary' }, 'Sign in')
  yes.addEventListener('click', () => whileSending(yes, signIn()))
  show({
    title: 'Sign in with this account',
    step,
    body: [
      el(
        'dl',
        { class: 'facts' },
        el('dt', {}, 'Account'),
        el('dd', {}, short(address)),
        el('dt', {}, 'Wallet'),
        el('dd', {}, wallet.name),
      ),
      el('p', {}, 'Your wallet shows a text that names ', domain(), '. Signing is free and moves no money.'),
      el('div', { class: 'buttons' }, yes, button('Choose another wallet', otherWallet)),
    ],
  })
}

/** Shows that the wallet is asked for its accounts. */
export function showConnecting(wallet: string, step: string, cancel: () => void): IsShown {
  return show({
    title: `Open ${wallet}`,
    step,
    body: [
      el('p', { class: 'waiting' }, `${wallet} asks which account this page may see.`),
      el('div', { class: 'buttons' }, button('Choose another wallet', cancel)),
    ],
  })
}

/** Shows that the wallet is asked to sign, and the text that it should show. */
export function showSigning(
  wallet: string,
  message: string,
  {
    step,
    code,
    cancel,
  }: { readonly step: string; readonly code?: string | undefined; readonly cancel: () => void },
): IsShown {
  const check: Child[] = [el('p', {}, 'Check that the text there names ', domain(), ', and sign it.')]
  if (code !== undefined)
    check.push(el('p', {}, 'It holds the code of your terminal: ', el('code', {}, code), '.'))
  return show({
    title: `Open ${wallet} and sign`,
    step,
    body: [
      el('p', { class: 'waiting' }, `${wallet} asks you to sign a text.`),
      ...check,
      el('details', {}, el('summary', {}, 'The whole text'), el('pre', {}, message)),
      el('div', { class: 'buttons' }, button('Cancel', cancel)),
    ],
  })
}

/** The domain that the prompt of the wallet must name. */
const domain = (): HTMLElement => el('strong', {}, new URL(readHost().origin).host)
