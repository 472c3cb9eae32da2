import { el } from '../../shared/dom.ts'
import { money, parseMoney } from '../../shared/money.ts'

/** Caps of a key in cents, as policies name them. */
export type Caps = Readonly<Partial<Record<CapName, number>>>
export type CapName = (typeof CAPS)[number]['name']

const CAPS = [
  { name: 'maxAuthAmountCents', label: 'Per payment', help: 'The most that one payment may move.' },
  {
    name: 'dailySpendCapCents',
    label: 'Per day',
    help: 'Payments and withdrawals together, from midnight to midnight UTC.',
  },
  {
    name: 'dailyWithdrawalCapCents',
    label: 'Withdrawals per day',
    help: 'Withdrawals alone, within the limit per day.',
  },
] as const

/** Makes the fields for the caps of a key. An empty field means no cap. */
export function capFields(before: Caps): {
  readonly element: HTMLElement
  /** Reads the caps. Undefined if a field is wrong: the first wrong field is then marked and focused. */
  read(): Caps | undefined
} {
  const fields = CAPS.map(cap => ({ name: cap.name, ...moneyField(cap, before[cap.name]) }))
  const centsOf = (name: CapName): number | undefined => fields.find(field => field.name === name)?.cents()
  const warn = (): void => {
    const daily = centsOf('dailySpendCapCents')
    for (const { name, note } of fields) note.textContent = capNote(name, centsOf(name), daily)
  }
  for (const { input } of fields) input.addEventListener('change', warn)
  return {
    element: el('div', { class: 'caps' }, ...fields.map(({ element }) => element)),
    read() {
      warn()
      const wrong = fields.filter(field => !field.check())
      wrong[0]?.input.focus()
      if (wrong.length > 0) return undefined
      const given = fields.flatMap(({ name, cents }) => {
        const value = cents()
        return value === undefined ? [] : [[name, value] as const]
      })
      return Object.fromEntries(given)
    },
  }
}

/** Says that a cap never applies because the cap per day is lower; empty if it can apply. */
export function capNote(name: CapName, cents: number | undefined, daily: number | undefined): string {
  if (name === 'dailySpendCapCents' || cents === undefined || daily === undefined || cents <= daily) return ''
  return 'Higher than the limit per day, which applies first.'
}

function moneyField({ name, label, help }: (typeof CAPS)[number], before: number | undefined) {
  const wrong = el('p', { class: 'wrong', id: `${name}-wrong` })
  const note = el('p', { class: 'help', role: 'status' })
  const input = el('input', {
    class: 'input',
    id: name,
    type: 'text',
    inputmode: 'decimal',
    autocomplete: 'off',
    placeholder: 'No limit',
    'aria-describedby': `${name}-help ${name}-wrong`,
    value: before === undefined ? '' : money(before),
  })
  const element = el(
    'div',
    { class: 'field' },
    el('label', { for: name }, label),
    el('div', { class: 'money-input' }, input, el('span', {}, 'USD')),
    el('p', { class: 'help', id: `${name}-help` }, help),
    wrong,
    note,
  )
  const cents = (): number | undefined => (input.value.trim() === '' ? undefined : parseMoney(input.value))
  const check = (): boolean => {
    const isRight = input.value.trim() === '' || cents() !== undefined
    wrong.textContent = isRight
      ? ''
      : 'Type dollars, such as 50, 12.50 or 1,000, or leave it empty for no limit.'
    input.setAttribute('aria-invalid', String(!isRight))
    return isRight
  }
  return { element, input, note, cents, check }
}
