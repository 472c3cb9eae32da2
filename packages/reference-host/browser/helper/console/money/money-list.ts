import { sentence, type Problem } from '../../../shared/api.ts'
import { el, fill, type Child } from '../../../shared/dom.ts'
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

/** Makes a list of money that moved: filters, a search by id, and a table that reads more when it is scrolled. */
export function moneyList<T>(context: ConsoleContext, rule: MoneyList<T>): Child[] {
  const body = el('div', { class: 'lines' })
  const { elements } = filterBar(context, {
    what: rule.what,
    filters: [
      { name: 'id', label: 'Search by id', kind: 'search', hint: rule.searchHint },
      ...Object.entries(rule.choices).map(
        ([name, [label, choices]]) => ({ name, label, kind: 'choice', choices }) as const,
      ),
      { name: 'keyId', label: 'Key', kind: 'key' },
      { name: 'from', label: 'From', kind: 'day' },
      { name: 'to', label: 'To', kind: 'day' },
    ],
    ...(rule.linked && { linked: rule.linked }),
    show: query => void showFeed(body, rule, rule.feed(query), query.size > 0),
  })
  return [...elements, el('div', { class: 'card' }, body)]
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
