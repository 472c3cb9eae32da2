import { el } from './dom.ts'
import { announce } from './live.ts'

const SHOWN_MS = 2000

/** Makes a button that copies a text and then shows "Copied". `what` names the text, such as "address". */
export function copyButton(what: string, text: () => string): HTMLButtonElement {
  const label = el('span', {}, 'Copy')
  const made = el('button', { type: 'button', class: 'button small', 'aria-label': `Copy ${what}` }, label)
  made.addEventListener('click', () => {
    navigator.clipboard.writeText(text()).then(
      () => showOutcome(label, 'Copied', `Copied ${what}.`),
      () =>
        showOutcome(
          label,
          'Not copied',
          `Your browser did not copy the ${what}. Select the text and copy it.`,
        ),
    )
  })
  return made
}

function showOutcome(label: HTMLElement, shown: string, sentence: string): void {
  label.textContent = shown
  announce(sentence)
  setTimeout(() => {
    label.textContent = 'Copy'
  }, SHOWN_MS)
}
