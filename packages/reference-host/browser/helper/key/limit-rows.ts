import { button, el } from '../../shared/dom.ts'
import { parseMoney } from '../../shared/money.ts'
import { markField } from './mark-field.ts'
import { OPERATION_KINDS } from '../../shared/operations.ts'
import { parseCount } from './parse-count.ts'
import type { Limit } from './sentence.ts'

const WINDOWS = [
  ['operation', 'each'],
  ['day', 'a day'],
  ['week', 'a week'],
  ['month', 'a month'],
  ['24h', 'in 24 hours'],
  ['7d', 'in 7 days'],
  ['30d', 'in 30 days'],
  ['total', 'in total'],
] as const

interface LimitRow {
  readonly element: HTMLElement
  readonly input: HTMLInputElement
  isRight(): boolean
  check(): boolean
  limit(): Limit | undefined
}

/** The most rows that the form offers: a policy has at most 16 limits. */
const MAX_ROWS = 12

/** Makes the list of limits that each hold for one kind of operation. It starts empty, and has a button that adds a limit. */
export function limitRows(): {
  readonly element: HTMLElement
  fields(): readonly LimitRow[]
  /** The limits of the rows that are right. */
  limits(): readonly Limit[]
} {
  const rows: LimitRow[] = []
  const list = el('div', { class: 'limit-rows' })
  const add = button('Add a limit for one kind of operation', () => {
    const row = limitRow(() => {
      rows.splice(rows.indexOf(row), 1)
      row.element.remove()
      add.disabled = false
      add.focus()
      list.dispatchEvent(new Event('input', { bubbles: true }))
    })
    rows.push(row)
    list.append(row.element)
    add.disabled = rows.length >= MAX_ROWS
    row.element.querySelector('select')?.focus()
  })
  add.classList.add('small')
  return {
    element: el('div', { class: 'lines' }, list, el('div', {}, add)),
    fields: () => rows,
    limits: () => rows.flatMap(row => row.limit() ?? []),
  }
}

function limitRow(remove: () => void): LimitRow {
  const kind = el('select', { class: 'input', 'aria-label': 'Kind of operation' })
  kind.append(...OPERATION_KINDS.map(({ many }, place) => el('option', { value: place }, many)))
  const input = el('input', {
    class: 'input',
    type: 'text',
    inputmode: 'decimal',
    autocomplete: 'off',
    'aria-label': 'At most',
  })
  const unit = el('select', { class: 'input', 'aria-label': 'Unit' })
  const window = el('select', { class: 'input', 'aria-label': 'Time span' })
  const wrong = el('p', { class: 'wrong', role: 'status' })
  const chosen = () => OPERATION_KINDS[Number(kind.value)] ?? OPERATION_KINDS[0]
  // What moves no money is counted, and a number is never of one operation.
  const arrange = (): void => {
    const units = chosen()?.movesMoney ? ['USD', 'times'] : ['times']
    if (unit.options.length !== units.length)
      unit.replaceChildren(...units.map(name => el('option', { value: name }, name)))
    const isMoney = unit.value === 'USD'
    const span = window.value
    const spans = WINDOWS.filter(([value]) => isMoney || value !== 'operation')
    window.replaceChildren(
      ...spans.map(([value, name]) => el('option', { value, selected: value === span }, name)),
    )
  }
  arrange()
  window.value = 'day'
  // By `input`, so that the form reads the arranged row when the event reaches it.
  kind.addEventListener('input', arrange)
  unit.addEventListener('input', arrange)
  const limit = (): Limit | undefined => {
    const operations = chosen()?.operations ?? []
    const span = window.value as Limit['window']
    const most = unit.value === 'USD' ? parseMoney(input.value) : parseCount(input.value)
    if (most === undefined) return undefined
    return unit.value === 'USD'
      ? { operations, window: span, maxCents: most }
      : { operations, window: span, maxCount: most }
  }
  const isRight = (): boolean => limit() !== undefined
  const removeButton = button('Remove', remove)
  removeButton.classList.add('small')
  return {
    element: el(
      'div',
      { class: 'limit-row', role: 'group', 'aria-label': 'Limit for one kind of operation' },
      kind,
      el('span', {}, 'at most'),
      input,
      unit,
      window,
      removeButton,
      wrong,
    ),
    input,
    limit,
    isRight,
    check() {
      const help = unit.value === 'USD' ? 'Type dollars, such as 50 or 12.50.' : 'Type a whole number.'
      return markField({ input, wrong, isRight: isRight(), help })
    },
  }
}
