import type { Reply } from '../../../shared/api.ts'
import { button, el, fill } from '../../../shared/dom.ts'
import { operationTitle } from '../../../shared/request-words.ts'
import type { ConsoleContext } from '../context.ts'
import { filterBar, type Choices } from '../filter-bar.ts'
import { readAllKeys } from '../all-keys.ts'
import { exportButton } from '../money/export.ts'
import { newRows } from '../new-rows.ts'
import { listReader, olderButton } from '../older-rows.ts'
import type { ConsolePage } from '../page.ts'
import { empty, load } from '../states.ts'
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

const operationsOf = (requests: readonly KeptRequest[]): Choices =>
  requests.map(request => [request.operation, operationTitle(request)] as const)

interface Found extends Page {
  readonly keys: readonly Key[]
}

async function loadRequests(
  context: ConsoleContext,
  body: HTMLElement,
  query: URLSearchParams,
  seen: (requests: readonly KeptRequest[]) => void,
): Promise<void> {
  const readPage = listReader<Page>(context, '/requests', query, ({ requests }) => requests)
  await load<Found>(body, {
    what: 'your requests',
    read: async () => withKeys(await readPage(null), await readAllKeys(context)),
    show({ keys, ...first }) {
      const shown: KeptRequest[] = []
      const table = requestTable(keys)
      const note = el('div')
      const add = ({ requests }: Page): void => {
        shown.push(...newRows(shown, requests, ({ id }) => id))
        seen(requests)
        table.show(shown)
        table.element.hidden = shown.length === 0
        fill(note, shown.length === 0 && noneFound(query))
      }
      add(first)
      return [note, table.element, olderButton(first, readPage, add)]
    },
  })
}

function withKeys(page: Reply<Page>, keys: Reply<readonly Key[]>): Reply<Found> {
  if (!page.ok) return page
  return keys.ok ? { ok: true, data: { ...page.data, keys: keys.data } } : keys
}

function noneFound(query: URLSearchParams): HTMLElement {
  if (query.size === 1)
    return empty('No requests.', 'Refused requests and writes appear here. Reads that succeed are not kept.')
  const text = query.get('q')
  return empty(
    text === null ? 'No requests match these filters.' : `No request mentions ${text}.`,
    'Change or clear the filters.',
  )
}
