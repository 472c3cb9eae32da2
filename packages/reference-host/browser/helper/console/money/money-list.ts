import { sentence, type Problem } from '../../../shared/api.ts'
import { button, el, fill, type Child } from '../../../shared/dom.ts'
import { announce } from '../../../shared/live.ts'
import type { ConsoleContext } from '../context.ts'
import { filterBar, type Choices } from '../filter-bar.ts'
import { empty, problemNote, showUnread, skeleton } from '../states.ts'
import type { Feed } from '../transaction-feed.ts'
import { virtualList } from './virtual-list.ts'

/** What differs between the lists of transactions and of pay-ins. */
interface MoneyList<T> {
  /** Names the list in sentences: "transactions". */
  readonly what: string
  /** One of them: "transaction". */
  readonly one: string
  readonly columns: readonly string[]
  /** The filters that are chosen from values, by their names in addresses and requests. */
  readonly choices: Readonly<Record<string, readonly [label: string, Choices]>>
  /** Filters that links set, such as those of one card, with the words for what they choose. They have no control. */
  readonly linked?: Readonly<Record<string, string>>
  /** Makes a feed of what the query of a request chooses. */
  feed(query: URLSearchParams): Feed<T>
  make(): HTMLElement
  fill(row: HTMLElement, item: T): void
  readonly empty: readonly [text: string, explanation: string]
}

/** How many pages are read at once until something is found. A page of a search tests 500 items. */
const MOST_PAGES = 20

/** Makes a list of money that moved: a search, filters, and a table that reads more when it is scrolled. */
export function moneyList<T>(context: ConsoleContext, rule: MoneyList<T>): Child[] {
  const body = el('div', { class: 'lines' })
  const { elements } = filterBar(context, {
    what: rule.what,
    filters: [
      { name: 'q', label: 'Search', kind: 'search', hint: 'Words, amount, address, id' },
      ...Object.entries(rule.choices).map(
        ([name, [label, choices]]) => ({ name, label, kind: 'choice', choices }) as const,
      ),
      { name: 'keyId', label: 'Key', kind: 'key' },
      { name: 'from', label: 'From', kind: 'day' },
      { name: 'to', label: 'To', kind: 'day' },
    ],
    ...(rule.linked && { linked: rule.linked }),
    show: query => void showFeed(body, rule, query),
  })
  return [...elements, el('div', { class: 'card' }, body)]
}

async function showFeed<T>(body: HTMLElement, rule: MoneyList<T>, query: URLSearchParams): Promise<void> {
  const feed = rule.feed(query)
  const filtered = query.size > 0
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
    // With a search or several filters, a page can be empty before the last one.
    let read = 0
    const problem = await feed.until(
      () => feed.items.length > 0 || read === MOST_PAGES,
      () => read++,
    )
    if (problem?.code === 'invalid_request')
      fill(mine, empty('Nothing can be found with these filters.', sentence(problem)))
    else if (problem)
      showUnread(mine, `Your ${rule.what} cannot be shown. Nothing was changed.`, problem, first)
    else if (feed.items.length === 0) fill(mine, nothing(rule, query, feed.complete, first))
    else {
      fill(mine, list.element, state, problemBox)
      showState(undefined)
    }
    if (!problem && filtered)
      announce(feed.items.length === 0 ? `No ${rule.what} match.` : `${capital(rule.what)} are filtered.`)
  }
  await first()
}

/** Says that nothing was found, and how to find more. */
function nothing<T>(
  { what, one, empty: none }: MoneyList<T>,
  query: URLSearchParams,
  complete: boolean,
  further: () => Promise<void>,
): HTMLElement {
  if (query.size === 0) return empty(...none)
  const text = query.get('q')
  const found = text === null ? `No ${what} match these filters` : `No ${one} mentions ${text}`
  if (complete) return empty(`${found}.`, 'Change or clear the filters.')
  return empty(
    `${found} so far.`,
    'Older ones were not read. Days find them faster.',
    button('Search older ones', further),
  )
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
