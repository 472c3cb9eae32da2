import type { Reply } from '../../../shared/api.ts'
import { button, el, fill, type Child } from '../../../shared/dom.ts'
import { operationTitle } from '../../../shared/request-words.ts'
import type { ConsoleContext } from '../context.ts'
import { filterBar, type Choices } from '../filter-bar.ts'
import { readAllKeys } from '../all-keys.ts'
import { exportButton } from '../money/export.ts'
import { newRows } from '../new-rows.ts'
import type { ConsolePage } from '../page.ts'
import { empty, load, problemNote } from '../states.ts'
import type { Key, KeptRequest } from '../wire.ts'
import { requestDrawer } from './request-drawer.ts'
import { requestTable } from './request-table.ts'

const OUTCOMES = [
  ['refused', 'Refused'],
  ['limited', 'Rate limited'],
  ['failed', 'Failed'],
  ['allowed', 'Allowed'],
] as const
const FILTERS = ['q', 'keyId', 'operation', 'outcome', 'from', 'to']
/** A request id of this host. One that a proxy gave can look different; its request is in the list. */
const REQUEST_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

interface Page {
  readonly requests: readonly KeptRequest[]
  readonly nextCursor: string | null
}

/** The page of what was decided about the requests of the account. Its filters are in the address. */
export const requestsPage: ConsolePage = {
  id: 'requests',
  title: 'Requests',
  icon: 'requests',
  about:
    'Refused requests and writes of the last days, with the reason. What you look up here is not listed.',
  actions: context => [
    exportButton(context, '/requests.csv', FILTERS),
    button('Refresh', () => context.refresh(), 'small'),
  ],
  render(context) {
    const body = el('div', { class: 'card lines' })
    const addOperations = (requests: readonly KeptRequest[]): void =>
      bar.add('operation', operationsOf(requests))
    const drawerOf = (text: string): (() => void) | undefined =>
      REQUEST_ID.test(text) ? () => context.open('requests', text) : undefined
    const bar = filterBar(context, {
      what: 'requests',
      filters: [
        { name: 'q', label: 'Search', kind: 'search', hint: 'Words, amount or request id', opens: drawerOf },
        { name: 'keyId', label: 'Key', kind: 'key' },
        { name: 'operation', label: 'What', kind: 'choice', choices: [] },
        { name: 'outcome', label: 'Result', kind: 'choice', choices: OUTCOMES },
        { name: 'from', label: 'From', kind: 'day' },
        { name: 'to', label: 'To', kind: 'day' },
      ],
      show: query =>
        void loadRequests(context, body, new URLSearchParams([['limit', '100'], ...query]), addOperations),
    })
    return [...bar.elements, body]
  },
  drawer: requestDrawer,
}

/** Shows the requests of one key, without filters: for the drawer of the key. */
export function requestsOfKey(context: ConsoleContext, keyId: string): HTMLElement {
  const body = el('div', { class: 'lines' })
  void loadRequests(context, body, new URLSearchParams({ limit: '20', keyId }), () => {})
  return body
}

const noneFound = (text: string | null): HTMLElement =>
  empty(
    text === null ? 'No requests match these filters.' : `No request mentions ${text}.`,
    'Change or clear the filters.',
  )

const operationsOf = (requests: readonly KeptRequest[]): Choices =>
  requests.map(request => [request.operation, operationTitle(request)] as const)

interface Found extends Page {
  readonly keys: readonly Key[]
}

/** Reads the first page that has something, or the last one. A page of a search can be empty before it. An account has few pages. */
async function readSome({ call }: ConsoleContext, query: URLSearchParams): Promise<Reply<Page>> {
  let page = await call<Page>(`/requests?${query}`)
  while (page.ok && page.data.requests.length === 0 && page.data.nextCursor !== null)
    page = await call<Page>(`/requests?${query}&cursor=${encodeURIComponent(page.data.nextCursor)}`)
  return page
}

async function loadRequests(
  context: ConsoleContext,
  body: HTMLElement,
  query: URLSearchParams,
  seen: (requests: readonly KeptRequest[]) => void,
): Promise<void> {
  const read = async (): Promise<Reply<Found>> => {
    const [page, keys] = await Promise.all([readSome(context, query), readAllKeys(context)])
    if (!page.ok) return page
    return keys.ok ? { ok: true, data: { ...page.data, keys: keys.data } } : keys
  }
  await load<Found>(body, {
    what: 'your requests',
    read,
    show: found => {
      seen(found.requests)
      return showPage(context, found, query, seen)
    },
  })
}

function showPage(
  context: ConsoleContext,
  { requests, nextCursor, keys }: Found,
  query: URLSearchParams,
  seen: (requests: readonly KeptRequest[]) => void,
): Child[] {
  if (requests.length === 0)
    return [
      query.size > 1
        ? noneFound(query.get('q'))
        : empty('No requests.', 'Refused requests and writes appear here. Reads that succeed are not kept.'),
    ]
  const shown = [...requests]
  const table = requestTable(keys)
  const more = el('div', { class: 'lines' })
  const readMore = async (cursor: string): Promise<void> => {
    const page = await context.call<Page>(`/requests?${query}&cursor=${encodeURIComponent(cursor)}`)
    if (!page.ok)
      return fill(
        more,
        problemNote('Older requests cannot be shown.', page.problem, () => readMore(cursor)),
      )
    shown.push(...newRows(shown, page.data.requests, ({ id }) => id))
    seen(page.data.requests)
    table.show(shown)
    offerMore(page.data.nextCursor)
  }
  const offerMore = (cursor: string | null): void =>
    fill(more, cursor !== null && button('Show older ones', () => readMore(cursor), 'small'))
  table.show(shown)
  offerMore(nextCursor)
  return [table.element, more]
}
