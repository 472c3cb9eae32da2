import { el } from '../../shared/dom.ts'
import { money, parseMoney } from '../../shared/money.ts'
import { markField } from './mark-field.ts'

/** A field for an amount in dollars. An empty one means no limit. */
export interface MoneyField {
  readonly element: HTMLElement
  readonly input: HTMLInputElement
  /** The amount; undefined if the field is empty or wrong. */
  cents(): number | undefined
  /** Whether the field is empty or an amount. */
  isRight(): boolean
  /** Marks the field if it is wrong. Returns whether it is right. */
  check(): boolean
  /** Fills an amount in, or empties the field. */
  propose(cents: number | undefined): void
  /** Shows a sentence under the field that does not stop the form. */
  note(text: string): void
}

/** What a field for an amount shows. `presets` are amounts in cents that one press fills in. */
interface MoneyFieldTexts {
  readonly name: string
  readonly label: string
  readonly help: string
  readonly placeholder?: string
  readonly presets?: readonly number[]
}

/** Makes a field for an amount in dollars. */
export function moneyField({
  name,
  label,
  help,
  placeholder = 'No limit',
  presets = [],
}: MoneyFieldTexts): MoneyField {
  const wrong = el('p', { class: 'wrong', id: `${name}-wrong` })
  const note = el('p', { class: 'help', role: 'status' })
  const input = el('input', {
    class: 'input',
    id: name,
    type: 'text',
    inputmode: 'decimal',
    autocomplete: 'off',
    placeholder,
    'aria-describedby': `${name}-help ${name}-wrong`,
  })
  const choices = presets.map(cents => {
    const dollars = String(cents / 100)
    const choice = el('button', { type: 'button', class: 'button link' }, dollars)
    choice.addEventListener('click', () => {
      input.value = money(cents)
      input.dispatchEvent(new Event('input', { bubbles: true }))
      input.dispatchEvent(new Event('change'))
    })
    return choice
  })
  const element = el(
    'div',
    { class: 'field' },
    el('label', { for: name }, label),
    el('div', { class: 'money-input' }, input, el('span', {}, 'USD')),
    choices.length > 0 && el('div', { class: 'presets', role: 'group', 'aria-label': 'Presets' }, ...choices),
    el('p', { class: 'help', id: `${name}-help` }, help),
    wrong,
    note,
  )
  const isEmpty = (): boolean => input.value.trim() === ''
  const cents = (): number | undefined => (isEmpty() ? undefined : parseMoney(input.value))
  const isRight = (): boolean => isEmpty() || cents() !== undefined
  return {
    element,
    input,
    cents,
    isRight,
    check() {
      const help = 'Type dollars, such as 50, 12.50 or 1,000, or leave it empty for no limit.'
      return markField({ input, wrong, isRight: isRight(), help })
    },
    propose(cents) {
      input.value = cents === undefined ? '' : money(cents)
    },
    note(text) {
      note.textContent = text
    },
  }
}
