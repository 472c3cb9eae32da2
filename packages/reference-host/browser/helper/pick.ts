import { button, el, fill, type Child } from '../shared/dom.ts'
import { readHost } from '../shared/host.ts'
import { announce } from '../shared/live.ts'
import { show } from './screen.ts'
import { findWallets, type Wallet } from './wallets.ts'

/** The texts above the list of wallets, and the function that a choice calls. */
interface PickOptions {
  readonly title: string
  readonly step: string
  readonly intro: readonly Child[]
  readonly chosen: (wallet: Wallet) => void
  /** Goes on with a test wallet. Only a sandbox offers it. */
  readonly useTestWallet?: () => Promise<unknown>
}

/** Lets a person choose a wallet of this browser. Wallets appear in the list as they announce themselves. */
export function showPick(options: PickOptions): void {
  const waiting = el('p', { class: 'waiting muted' }, 'Looking for wallets in this browser.')
  const list = el('ul', { class: 'wallets', 'aria-label': 'Wallets' })
  const state = el('div', { hidden: true })
  const test = testWallet(options)
  const isShown = show({
    ...options,
    body: [elsewhere(), ...options.intro, list, waiting, state, test],
  })
  const stop = findWallets((wallets, searching) => {
    if (!isShown()) return stop()
    update(list, wallets, options.chosen)
    waiting.hidden = !searching || wallets.length > 0
    if (searching) return undefined
    state.hidden = wallets.length > 0
    const isTest = test !== undefined && wallets.length === 0
    // Without a wallet, the test wallet is the way on.
    test?.querySelector('.button')?.classList.toggle('primary', isTest)
    fill(state, ...(wallets.length === 0 ? noWallet(() => showPick(options), isTest ? '' : 'primary') : []))
    announce(wallets.length === 0 ? 'No wallet was found.' : `Wallets found: ${wallets.length}.`)
    return undefined
  })
}

/** Adds and removes only changed entries, so that the others keep the focus. */
function update(list: HTMLElement, wallets: readonly Wallet[], chosen: (wallet: Wallet) => void): void {
  const entries = [...list.children] as HTMLElement[]
  for (const shown of entries) if (!wallets.some(({ id }) => id === shown.dataset['wallet'])) shown.remove()
  for (const wallet of wallets)
    if (!entries.some(({ dataset }) => dataset['wallet'] === wallet.id)) list.append(entry(wallet, chosen))
}

function entry(wallet: Wallet, chosen: (wallet: Wallet) => void): HTMLElement {
  const { name, rdns } = wallet
  const from = rdns === undefined ? undefined : el('span', { class: 'from' }, rdns)
  const label = el('span', { class: 'name' }, name, from)
  const choice = el('button', { type: 'button', class: 'button wallet' }, icon(wallet), label)
  choice.addEventListener('click', () => chosen(wallet))
  return el('li', { 'data-wallet': wallet.id }, choice)
}

function icon({ icon: source, name }: Wallet): HTMLElement {
  return source === undefined
    ? el('span', { class: 'wallet-icon', 'aria-hidden': 'true' }, name.slice(0, 1).toUpperCase())
    : el('img', { class: 'wallet-icon', src: source, alt: '', width: 32, height: 32 })
}

/** Makes the way in for somebody without a wallet. */
function testWallet({ useTestWallet }: PickOptions): HTMLElement | undefined {
  return (
    useTestWallet &&
    el(
      'div',
      { class: 'test-wallet' },
      button('Continue with a test wallet', useTestWallet),
      el(
        'p',
        { class: 'muted small' },
        'For this sandbox only. Its key is made in this tab and is gone when you close it.',
      ),
    )
  )
}

function noWallet(again: () => void, kind: string): Child[] {
  return [
    el(
      'div',
      { class: 'note warn' },
      el('p', {}, el('strong', {}, 'No wallet was found in this browser.')),
      el('p', {}, 'Install a wallet extension, or unlock the one that you have, and look again.'),
      el('p', {}, 'On a phone, open this page in the browser of your wallet.'),
      el('div', { class: 'buttons' }, button('Look again', again, kind)),
    ),
  ]
}

/** Makes a note if the page was opened at another origin than the host's configured one: wallets would show a warning. */
function elsewhere(): Child {
  const { origin } = readHost()
  if (location.origin === origin) return undefined
  const right = `${origin}${location.pathname}${location.hash}`
  return el(
    'div',
    { class: 'note warn' },
    el(
      'p',
      {},
      'Your wallet will name ',
      el('strong', {}, origin),
      ', but this page is at ',
      location.origin,
      '.',
    ),
    el('p', {}, el('a', { href: right }, 'Open the page there')),
  )
}
