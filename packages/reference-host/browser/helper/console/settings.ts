import { short } from '../../shared/address.ts'
import { copyButton } from '../../shared/copy.ts'
import { el, type Child } from '../../shared/dom.ts'
import { readHost } from '../../shared/host.ts'
import { utc, when } from '../../shared/time.ts'
import type { ConsoleContext } from './context.ts'
import type { ConsolePage } from './page.ts'
import { section } from './states.ts'

/** The page of settings: facts about this sign-in and about the service. */
export const settingsPage: ConsolePage = {
  id: 'settings',
  title: 'Settings',
  icon: 'settings',
  render: ({ session }) => [signInSection(session), hostSection()],
}

function signInSection({ address, wallet, expiresAt }: ConsoleContext['session']): HTMLElement {
  return section('This sign-in', [
    facts([
      [
        'Account',
        el(
          'span',
          { class: 'copied' },
          short(address),
          copyButton('address', () => address),
        ),
      ],
      ['Wallet', wallet.name],
      ['Ends', el('span', {}, when(expiresAt), ` (${utc(expiresAt).slice(0, 16)} UTC)`)],
    ]),
    el(
      'p',
      { class: 'muted small' },
      'You can view everything here and revoke keys. Payments need an API key, and making one needs a signature. ',
      'The sign-in is kept for this tab only, until it ends or you sign out.',
    ),
  ])
}

function hostSection(): HTMLElement {
  const { serviceName, environment, origin } = readHost()
  return section('Service', [
    facts([
      ['Name', serviceName],
      ['Environment', environment === 'sandbox' ? 'Sandbox: play money only' : 'Live'],
      [
        'API address',
        el(
          'span',
          { class: 'copied' },
          el('code', {}, origin),
          copyButton('API address', () => origin),
        ),
      ],
    ]),
  ])
}

const facts = (rows: readonly (readonly [name: string, value: Child])[]): HTMLElement =>
  el('dl', { class: 'facts' }, ...rows.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]))
