import { short } from '../../shared/address.ts'
import { copyButton } from '../../shared/copy.ts'
import { counted } from '../../shared/counted.ts'
import { button, el } from '../../shared/dom.ts'
import { announce } from '../../shared/live.ts'
import { holdScreen, show, type Action } from '../screen.ts'
import { tabs } from '../tabs.ts'
import { samplesOf } from './samples.ts'

/** A new key. The host returns its text only once. */
export interface NewKey {
  readonly userApiKey: string
  readonly userKeyId: string
  readonly keyPrefix: string
  readonly label: string | null
  readonly scopes: readonly string[]
}

/**
 * Shows a new key, hidden until requested, with buttons to copy it and programs that use it. The page asks before it is left.
 */
export function showNewKey(key: NewKey, address: string, [afterLabel, after]: Action): void {
  const { userApiKey, label, scopes } = key
  const release = holdScreen()
  const stored = el('input', { type: 'checkbox', id: 'stored', 'aria-describedby': 'stored-wrong' })
  const wrong = el('p', { class: 'wrong', id: 'stored-wrong' })
  const done = button(
    afterLabel,
    () => {
      if (stored.checked) {
        release()
        return after()
      }
      wrong.textContent = 'Store the key first, and confirm it: it is never shown again.'
      stored.focus()
      announce(wrong.textContent)
      return undefined
    },
    'primary',
  )
  const { text, samples, reveal } = hiddenTexts(key)
  show({
    title: label === null ? 'Your new key' : `Your new key ${label}`,
    width: 'wide',
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
        `It has ${counted(scopes.length, 'scope')}, for the account `,
        short(address),
        '.',
      ),
      el('h2', {}, 'Try it'),
      el('p', { class: 'small muted' }, 'A copied sample contains the key and runs as it is.'),
      samples,
      el('div', { class: 'choice' }, stored, el('label', { for: 'stored' }, 'I have stored it.')),
      wrong,
      el('div', { class: 'buttons' }, done),
    ],
  })
  announce('The key was created.')
}

/** Makes the text of a key and the samples with it, and the button that shows the key in both. */
function hiddenTexts({ userApiKey, keyPrefix, scopes }: NewKey): {
  readonly text: HTMLElement
  readonly samples: HTMLElement
  readonly reveal: HTMLElement
} {
  const hidden = `${keyPrefix}${'•'.repeat(12)}`
  const text = el('code', {})
  const samples = samplesOf(location.origin, userApiKey, scopes).map(sample => ({
    ...sample,
    pre: el('pre', { class: 'code', tabindex: 0 }),
  }))
  let isShown = false
  const draw = (): void => {
    text.textContent = isShown ? userApiKey : hidden
    for (const sample of samples)
      sample.pre.textContent = isShown ? sample.text : sample.text.replaceAll(userApiKey, hidden)
  }
  const reveal = button(
    'Show',
    () => {
      isShown = !isShown
      reveal.textContent = isShown ? 'Hide' : 'Show'
      draw()
    },
    'small',
  )
  draw()
  const contents = samples.map(({ name, text: sample, pre }) => {
    const copy = copyButton(`${name} sample`, () => sample)
    return { name, content: el('div', { class: 'lines' }, pre, el('div', {}, copy)) }
  })
  return { text, samples: tabs('Samples', contents), reveal }
}
