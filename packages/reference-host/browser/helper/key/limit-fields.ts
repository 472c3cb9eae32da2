import { el } from '../../shared/dom.ts'
import { limitRows } from './limit-rows.ts'
import { markField } from './mark-field.ts'
import { moneyField } from './money-field.ts'
import { CARD_OPERATIONS, MONEY_OPERATIONS } from '../../shared/operations.ts'
import { parseCount } from './parse-count.ts'
import type { Limit, Policy } from './sentence.ts'

export type CapName = (typeof CAPS)[number]['name']

const PRESETS = [1000, 5000, 20_000]
const CAPS = [
  { name: 'each', label: 'Per payment', help: 'The most that one payment may move.', presets: PRESETS },
  {
    name: 'day',
    label: 'Per day',
    help: 'Payments and withdrawals together, from midnight to midnight.',
    presets: PRESETS,
  },
  {
    name: 'month',
    label: 'Per month',
    help: 'Everything that is spent in a calendar month.',
    presets: [5000, 20_000, 100_000],
  },
  {
    name: 'withdrawals',
    label: 'Withdrawals per day',
    help: 'Withdrawals alone, within the limit per day.',
  },
] as const

/** Amounts in cents. */
type CapValues = Readonly<Partial<Record<CapName, number>>>

/** What binds before the form is used, per field: an amount, and a sentence that names it. */
export type CapsNow = Readonly<Partial<Record<CapName, { readonly cents: number; readonly text: string }>>>

/** The fields for the limits of a key. */
export interface LimitFields {
  readonly element: HTMLElement
  /** Fills amounts in; fields without a value become empty. */
  propose(values: CapValues): void
  /** Reads the limits without marking anything. Undefined if a field is wrong: a limit that is mistyped is never left out. */
  peek(): Policy | undefined
  /** Reads the limits. Undefined if a field is wrong: the first wrong field is then marked and focused. */
  read(): Policy | undefined
}

/** Makes the fields for the limits of a key. An empty field means no limit, or with `now` no change. */
export function limitFields({ now = {} }: { readonly now?: CapsNow } = {}): LimitFields {
  const isChange = Object.keys(now).length > 0
  const fields = CAPS.map(cap => ({
    name: cap.name,
    ...moneyField({
      ...cap,
      ...(now[cap.name] && { help: now[cap.name]?.text ?? '', placeholder: 'No change' }),
      ...(isChange && { presets: [] }),
    }),
  }))
  const cards = numberField({
    id: 'cards-most',
    label: 'Number of cards',
    unit: 'cards',
    placeholder: 'No limit',
    help: 'How many cards it may make in total.',
    wrongHelp: 'Type a whole number, or leave it empty for no limit.',
  })
  const alert = numberField({
    id: 'alert-percent',
    label: 'Tell me at',
    unit: '%',
    placeholder: 'Never',
    help: 'A notification when so much of a limit per day or month is used.',
    wrongHelp: 'Type a whole number from 1 to 100, with a limit per day or per month, or leave it empty.',
    accepts: percent =>
      percent >= 1 && percent <= 100 && (['day', 'month', 'withdrawals'] as const).some(hasCap),
  })
  const rows = limitRows()
  const centsOf = (name: CapName): number | undefined => fields.find(field => field.name === name)?.cents()
  const hasCap = (name: CapName): boolean => centsOf(name) !== undefined
  const warn = (): void => {
    for (const { name, note, cents } of fields)
      note(higherNote(cents(), now[name]?.cents) || capNote(name, cents(), centsOf('day') ?? now.day?.cents))
  }
  for (const { input } of fields) input.addEventListener('change', warn)
  const peek = (): Policy | undefined => {
    if (![...fields, cards, alert, ...rows.fields()].every(({ isRight }) => isRight())) return undefined
    const [each, day, month, withdrawals] = (['each', 'day', 'month', 'withdrawals'] as const).map(centsOf)
    const percent = alert.count()
    const alerting = percent === undefined ? {} : { alertAtPercent: percent }
    const limits: Limit[] = [
      ...(month === undefined
        ? []
        : [{ operations: MONEY_OPERATIONS, window: 'month', maxCents: month, ...alerting } as const]),
      ...(cards.count() === undefined
        ? []
        : [{ operations: CARD_OPERATIONS, window: 'total', maxCount: cards.count() ?? 0 } as const]),
      ...rows.limits(),
    ]
    return {
      ...(each === undefined ? {} : { maxAuthAmountCents: each }),
      ...(day === undefined ? {} : { dailySpendCapCents: day }),
      ...(withdrawals === undefined ? {} : { dailyWithdrawalCapCents: withdrawals }),
      ...(day === undefined && withdrawals === undefined ? {} : alerting),
      ...(limits.length === 0 ? {} : { limits }),
    }
  }
  return {
    element: el(
      'div',
      { class: 'limit-fields' },
      el('div', { class: 'caps' }, ...fields.map(({ element }) => element), cards.element, alert.element),
      rows.element,
    ),
    propose(values) {
      for (const { name, propose } of fields) propose(values[name])
      warn()
    },
    peek,
    read() {
      warn()
      const wrong = [...fields, cards, alert, ...rows.fields()].filter(field => !field.check())
      wrong[0]?.input.focus()
      return wrong.length > 0 ? undefined : peek()
    },
  }
}

/** Says that a cap never applies because the cap per day is lower; empty if it can apply. */
export function capNote(name: CapName, cents: number | undefined, daily: number | undefined): string {
  if (name === 'day' || name === 'month' || cents === undefined || daily === undefined || cents <= daily)
    return ''
  return 'Higher than the limit per day, which applies first.'
}

/** Says that a new limit changes nothing because a lower one binds; empty if it is lower. */
export function higherNote(cents: number | undefined, now: number | undefined): string {
  if (cents === undefined || now === undefined || cents < now) return ''
  return 'Not lower than what binds now, so it changes nothing. To allow more, create another key.'
}

/** What a field for a whole number shows, and which numbers it accepts beside an empty field. */
interface NumberFieldOptions {
  readonly id: string
  readonly label: string
  readonly unit: string
  readonly placeholder: string
  readonly help: string
  readonly wrongHelp: string
  readonly accepts?: (count: number) => boolean
}

/** Makes a field for a whole number that may be left empty. */
function numberField({
  id,
  label,
  unit,
  placeholder,
  help,
  wrongHelp,
  accepts = () => true,
}: NumberFieldOptions) {
  const wrong = el('p', { class: 'wrong', id: `${id}-wrong` })
  const input = el('input', {
    class: 'input',
    id,
    type: 'text',
    inputmode: 'numeric',
    autocomplete: 'off',
    placeholder,
    'aria-describedby': `${id}-help ${id}-wrong`,
  })
  const element = el(
    'div',
    { class: 'field' },
    el('label', { for: id }, label),
    el('div', { class: 'money-input' }, input, el('span', {}, unit)),
    el('p', { class: 'help', id: `${id}-help` }, help),
    wrong,
  )
  const count = (): number | undefined => parseCount(input.value)
  const isRight = (): boolean => {
    const typed = count()
    return input.value.trim() === '' || (typed !== undefined && accepts(typed))
  }
  const check = (): boolean => markField({ input, wrong, isRight: isRight(), help: wrongHelp })
  return { element, input, count, isRight, check }
}
