import { sentence, type Problem } from '../../../shared/api.ts'
import { button, el, fill, type Child } from '../../../shared/dom.ts'
import { announce } from '../../../shared/live.ts'
import { readAllKeys } from '../keys/all-keys.ts'
import type { ConsoleContext } from '../context.ts'
import { keyName } from '../keys/key-words.ts'
import { empty, problemNote, showUnread, skeleton } from '../states.ts'
import type { Feed } from '../transaction-feed.ts'
import { virtualList } from './virtual-list.ts'

/** The values of a filter, with the words for them. */
type Choices = readonly (readonly [value: string, word: string])[]

/** What differs between the lists of transactions and of pay-ins. */
interface MoneyList<T> {
  /** Names the list in sentences: "transactions". */
  readonly what: string
  readonly columns: readonly string[]
  /** The filters that are chosen from values, by their names in addresses and requests. */
  readonly choices: Readonly<Record<string, readonly [label: string, Choices]>>
  /** Filters that links set, such as those of one card, with the words for what they choose. They have no control. */
  readonly linked?: Readonly<Record<string, string>>
  /** What an id that can be searched looks like. */
  readonly searchHint: string
  /** Makes a feed of what the query of a request chooses. */
  feed(query: URLSearchParams): Feed<T>
  make(): HTMLElement
  fill(row: HTMLElement, item: T): void
  readonly empty: readonly [text: string, explanation: string]
}

/** The filters that every list has, in addresses and requests. */
const COMMON = ['id', 'keyId', 'from', 'to']

/** Makes a list of money that moved: filters, a search by id, and a table that reads more when it is scrolled. */
export function moneyList<T>(context: ConsoleContext, rule: MoneyList<T>): Child[] {
  const body = el('div', { class: 'lines' })
  const linked = Object.keys(rule.linked ?? {})
  const names = [...COMMON, ...linked, ...Object.keys(rule.choices)]
  const controls = new Map<string, HTMLInputElement | HTMLSelectElement>()
  const clear = button('Clear filters', () => set({}), 'small')
  const chosenBy = el('p', { class: 'muted small' })

  const apply = (): void => {
    const query = queryOf(context, names)
    clear.hidden = query.size === 0
    chosenBy.textContent = linked.flatMap(name => (query.has(name) ? rule.linked?.[name] : [])).join(' ')
    chosenBy.hidden = chosenBy.textContent === ''
    void showFeed(body, rule, rule.feed(query), query.size > 0)
  }
  const set = (filters: Readonly<Record<string, string>>): void => {
    context.setFilters(filters)
    for (const [name, control] of controls) control.value = filters[name] ?? ''
    apply()
  }
  const changed = (): void => {
    const kept = linked.map(name => [name, context.filters().get(name) ?? ''] as const)
    const filters = [...controls].map(([name, control]) => [name, control.value.trim()] as const)
    set(Object.fromEntries([...kept, ...filters].filter(([, value]) => value !== '')))
  }
  const control = (name: string, label: string, made: HTMLInputElement | HTMLSelectElement): HTMLElement => {
    made.value = context.filters().get(name) ?? ''
    made.addEventListener('change', changed)
    controls.set(name, made)
    made.id = `filter-${name}`
    return el('div', { class: 'filter' }, el('label', { for: made.id }, label), made)
  }
  const keys = el('select', {}, el('option', { value: '' }, 'Any'))
  const bar = el(
    'form',
    { class: 'filters', role: 'search', 'aria-label': `Filters of ${rule.what}` },
    control(
      'id',
      'Search by id',
      el('input', { type: 'search', placeholder: rule.searchHint, spellcheck: 'false', autocomplete: 'off' }),
    ),
    ...Object.entries(rule.choices).map(([name, [label, choices]]) =>
      control(
        name,
        label,
        el(
          'select',
          {},
          ...([['', 'Any'], ...choices] as Choices).map(([value, word]) => el('option', { value }, word)),
        ),
      ),
    ),
    control('keyId', 'Key', keys),
    control('from', 'From', el('input', { type: 'date' })),
    control('to', 'To', el('input', { type: 'date' })),
    clear,
  )
  bar.addEventListener('submit', event => {
    event.preventDefault()
    changed()
  })
  void addKeys(context, keys)
  apply()
  return [bar, chosenBy, el('div', { class: 'card' }, body)]
}

/** The filters in the address, as the query of a request. Other members of the address are left out. */
export function queryOf(context: Pick<ConsoleContext, 'filters'>, names: readonly string[]): URLSearchParams {
  return new URLSearchParams(
    [...context.filters()].filter(([name, value]) => names.includes(name) && value !== ''),
  )
}

async function addKeys(context: ConsoleContext, select: HTMLSelectElement): Promise<void> {
  const chosen = context.filters().get('keyId') ?? ''
  const reply = await readAllKeys(context)
  const keys = reply.ok ? reply.data.filter(key => !key.console) : []
  select.append(...keys.map(key => el('option', { value: key.id }, keyName(key))))
  if (chosen !== '' && !keys.some(({ id }) => id === chosen))
    select.append(el('option', { value: chosen }, chosen))
  select.value = chosen
}

async function showFeed<T>(
  body: HTMLElement,
  rule: MoneyList<T>,
  feed: Feed<T>,
  filtered: boolean,
): Promise<void> {
  const state = el('p', { class: 'muted small', 'aria-live': 'polite' })
  const problemBox = el('div')
  // The body of a newer choice of filters replaces this one.
  const mine = el('div', { class: 'lines' }, skeleton(`your ${rule.what}`))
  fill(body, mine)
  const list = virtualList({
    label: capital(rule.what),
    columns: rule.columns,
    count: () => feed.items.length,
    complete: () => feed.complete,
    make: rule.make,
    fill: (row, place) => rule.fill(row, feed.items[place] as T),
    nearEnd: () => void more(),
  })
  const more = async (): Promise<void> => showState(await feed.more())
  const showState = (problem: Problem | undefined): void => {
    const { length } = feed.items
    const all = length === 1 ? '1 shown.' : `All ${length} shown.`
    state.textContent = feed.complete ? all : `${length} read so far. Scroll for more.`
    fill(problemBox, problem && problemNote(`Older ${rule.what} cannot be shown.`, problem, more))
    if (!problem) list.update()
  }
  const first = async (): Promise<void> => {
    // With several filters, a page can be empty before the last one.
    const problem = await feed.until(
      () => feed.items.length > 0,
      () => {},
    )
    if (problem?.code === 'invalid_request')
      fill(mine, empty('Nothing can be found with these filters.', sentence(problem)))
    else if (problem)
      showUnread(mine, `Your ${rule.what} cannot be shown. Nothing was changed.`, problem, first)
    else if (feed.items.length === 0)
      fill(
        mine,
        filtered
          ? empty(`No ${rule.what} match these filters.`, 'Change or clear them.')
          : empty(...rule.empty),
      )
    else {
      fill(mine, list.element, state, problemBox)
      showState(undefined)
    }
    if (!problem && filtered)
      announce(feed.items.length === 0 ? `No ${rule.what} match.` : `${capital(rule.what)} are filtered.`)
  }
  await first()
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
