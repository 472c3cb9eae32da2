import { short } from '../../shared/address.ts'
import { copyButton } from '../../shared/copy.ts'
import { button, el } from '../../shared/dom.ts'
import { announce } from '../../shared/live.ts'
import { holdScreen, show, type Action } from '../screen.ts'

/** A new key. The host returns its text only once. */
export interface NewKey {
  readonly userApiKey: string
  readonly userKeyId: string
  readonly keyPrefix: string
  readonly scopes: readonly string[]
}

/** Shows a new key, hidden until requested, with a button to copy it. The page asks before it is left. */
export function showNewKey({ userApiKey, keyPrefix, scopes }: NewKey, address: string, after: Action): void {
  const release = holdScreen()
  const hidden = `${keyPrefix}${'•'.repeat(12)}`
  const text = el('code', {}, hidden)
  const reveal = button(
    'Show',
    () => {
      const show = text.textContent === hidden
      text.textContent = show ? userApiKey : hidden
      reveal.textContent = show ? 'Hide' : 'Show'
    },
    'small',
  )
  const stored = el('input', { type: 'checkbox', id: 'stored', 'aria-describedby': 'stored-wrong' })
  const wrong = el('p', { class: 'wrong', id: 'stored-wrong' })
  const done = button(
    'Done',
    () => {
      if (stored.checked) {
        release()
        return finish(address, after)
      }
      wrong.textContent = 'Store the key first, and confirm it: it is never shown again.'
      stored.focus()
      announce(wrong.textContent)
    },
    'primary',
  )
  show({
    title: 'Your new key',
    body: [
      el(
        'div',
        { class: 'note warn' },
        el('p', {}, 'It is shown only now. Store it where your program reads its secrets.'),
      ),
      el('p', { class: 'secret' }, text),
      el(
        'div',
        { class: 'buttons' },
        copyButton('key', () => userApiKey),
        reveal,
      ),
      el(
        'p',
        { class: 'small muted' },
        `It has ${scopes.length} scopes, for the account `,
        short(address),
        '.',
      ),
      el('div', { class: 'choice' }, stored, el('label', { for: 'stored' }, 'I have stored it.')),
      wrong,
      el('div', { class: 'buttons' }, done),
    ],
  })
  announce('The key was created.')
}

function finish(address: string, [label, go]: Action): void {
  const command = [
    `curl -sS ${location.origin}/user/v1/sessions`,
    '-H "X-User-Key: $GATEWRIGHT_KEY"',
    '-H "Content-Type: application/json"',
    "-d '{}'",
  ].join(' \\\n  ')
  show({
    title: 'Your key is ready',
    body: [
      el('p', {}, 'It works at once for ', short(address), '. With it, a program starts a session:'),
      el('pre', {}, command),
      el(
        'div',
        { class: 'buttons' },
        copyButton('command', () => command),
        button(label, go, 'small'),
      ),
    ],
  })
}
