import { el } from '../../shared/dom.ts'
import { markField } from './mark-field.ts'

const DAY_MS = 86_400_000
const DAYS = 30

/** The choice when a key ends. */
export interface ExpiryField {
  readonly element: HTMLElement
  /** The end as an instant; null for never, undefined while the date is missing or past. */
  read(): string | null | undefined
  /** Marks a wrong date and focuses it. Returns whether the choice is right. */
  check(): boolean
}

/** Makes the choice when a key ends: never, in 30 days, or at the start of a day in UTC. */
export function expiryField(): ExpiryField {
  const radio = (value: string, checked = false): HTMLInputElement =>
    el('input', { type: 'radio', name: 'expires', value, checked })
  const [never, days, date] = [radio('never', true), radio('days'), radio('date')]
  const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10)
  const on = el('input', { class: 'input', type: 'date', min: tomorrow, 'aria-label': 'Day, UTC' })
  const wrong = el('p', { class: 'wrong', id: 'expires-wrong' })
  on.setAttribute('aria-describedby', 'expires-wrong')
  on.addEventListener('input', () => {
    date.checked = true
  })
  const read = (): string | null | undefined => {
    if (never.checked) return null
    if (days.checked) return new Date(Date.now() + DAYS * DAY_MS).toISOString()
    const at = Date.parse(`${on.value}T00:00:00Z`)
    return at > Date.now() ? new Date(at).toISOString() : undefined
  }
  return {
    element: el(
      'fieldset',
      { class: 'choices' },
      el('legend', { class: 'label' }, 'When does it end?'),
      el('label', { class: 'choice' }, never, el('span', {}, 'Never')),
      el('label', { class: 'choice' }, days, el('span', {}, `In ${DAYS} days`)),
      el('div', { class: 'day-choice' }, el('label', { class: 'choice' }, date, el('span', {}, 'On')), on),
      wrong,
    ),
    read,
    check() {
      const help = 'Choose a day after today.'
      const isRight = markField({ input: on, wrong, isRight: read() !== undefined, help })
      if (!isRight) on.focus()
      return isRight
    },
  }
}
