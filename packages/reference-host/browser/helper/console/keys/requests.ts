import type { Reply } from '../../../shared/api.ts'
import { copyButton } from '../../../shared/copy.ts'
import { button, el, fill, type Child } from '../../../shared/dom.ts'
import { when } from '../../../shared/time.ts'
import { readAllKeys } from './all-keys.ts'
import type { ConsoleContext } from '../context.ts'
import { keyName } from './key-words.ts'
import { listRow } from '../list-row.ts'
import { newRows } from '../new-rows.ts'
import type { ConsolePage } from '../page.ts'
import { addressOf } from '../route.ts'
import { empty, load, problemNote } from '../states.ts'
import type { Key, KeptRequest } from '../wire.ts'

const OUTCOMES = [
  ['', 'All'],
  ['refused', 'Refused'],
  ['limited', 'Rate limited'],
  ['failed', 'Failed'],
  ['allowed', 'Allowed'],
] as const

interface Page {
  readonly requests: readonly KeptRequest[]
  readonly nextCursor: string | null
}

/** The page of what was decided about the requests of the account. Its filters are in the address. */
export const requestsPage: ConsolePage = {
  id: 'requests',
  title: 'Requests',
  icon: 'requests',
  about: 'Refused requests and writes of the last days, with the reason.',
  actions: context => [button('Refresh', () => context.refresh(), 'small')],
  render(context) {
    const body = el('div', { class: 'card lines' })
    const show = (): Promise<void> => loadRequests(context, body, queryOf(context.filters()))
    void show()
    return [filterForm(context, show), body]
  },
  drawer(context, id) {
    const body = el('div', { class: 'lines' })
    void load<OneRequest>(body, {
      what: 'this request',
      read: () => context.call(`/requests/${encodeURIComponent(id)}`),
      show: showOne,
    })
    return { title: 'Request', body: [body] }
  },
}

/** Shows the requests of one key, without filters: for the drawer of the key. */
export function requestsOfKey(context: ConsoleContext, keyId: string): HTMLElement {
  const body = el('div', { class: 'lines' })
  void loadRequests(context, body, `limit=20&keyId=${encodeURIComponent(keyId)}`)
  return body
}

function queryOf(filters: URLSearchParams): string {
  const query = new URLSearchParams({ limit: '50' })
  const [outcome, key] = [filters.get('outcome'), filters.get('key')]
  if (outcome) query.set('outcome', outcome)
  if (key) query.set('keyId', key)
  return query.toString()
}

function filterForm(context: ConsoleContext, show: () => Promise<void>): HTMLElement {
  const filters = context.filters()
  const outcome = el('select', { id: 'outcome' })
  for (const [value, label] of OUTCOMES)
    outcome.append(el('option', { value, selected: filters.get('outcome') === value }, label))
  outcome.addEventListener('change', () => {
    const key = filters.get('key')
    context.setFilters({ ...(outcome.value && { outcome: outcome.value }), ...(key && { key }) })
    void show()
  })
  const search = el('input', {
    id: 'request-id',
    autocomplete: 'off',
    spellcheck: false,
    type: 'search',
    placeholder: 'X-Request-Id',
  })
  const find = el(
    'form',
    { class: 'filters', role: 'search' },
    el('div', { class: 'filter' }, el('label', { for: 'outcome' }, 'Outcome'), outcome),
    el('div', { class: 'filter wide' }, el('label', { for: 'request-id' }, 'Request id'), search),
    el('button', { class: 'button' }, 'Find'),
  )
  find.addEventListener('submit', event => {
    event.preventDefault()
    if (search.value.trim() !== '') context.open('requests', search.value.trim())
  })
  return find
}

async function loadRequests(context: ConsoleContext, body: HTMLElement, query: string): Promise<void> {
  const read = async (): Promise<Reply<Page & { readonly keys: readonly Key[] }>> => {
    const [page, keys] = await Promise.all([context.call<Page>(`/requests?${query}`), readAllKeys(context)])
    if (!page.ok) return page
    return keys.ok ? { ok: true, data: { ...page.data, keys: keys.data } } : keys
  }
  await load(body, {
    what: 'your requests',
    read,
    show: ({ requests, nextCursor, keys }) => showPage(context, requests, nextCursor, keys, query),
  })
}

function showPage(
  context: ConsoleContext,
  requests: readonly KeptRequest[],
  nextCursor: string | null,
  keys: readonly Key[],
  query: string,
): Child[] {
  if (requests.length === 0)
    return [
      empty('No requests.', 'Refused requests and writes appear here. Reads that succeed are not kept.'),
    ]
  const shown = [...requests]
  const list = el('ul', { class: 'rows' }, ...requests.map(request => row(request, keys)))
  const more = el('div', { class: 'lines' })
  const readMore = async (cursor: string): Promise<void> => {
    const page = await context.call<Page>(`/requests?${query}&cursor=${encodeURIComponent(cursor)}`)
    if (!page.ok)
      return fill(
        more,
        problemNote('Older requests cannot be shown.', page.problem, () => readMore(cursor)),
      )
    const older = newRows(shown, page.data.requests, ({ id }) => id)
    shown.push(...older)
    list.append(...older.map(request => row(request, keys)))
    offerMore(page.data.nextCursor)
  }
  const offerMore = (cursor: string | null): void =>
    fill(more, cursor !== null && button('Show older ones', () => readMore(cursor), 'small'))
  offerMore(nextCursor)
  return [list, more]
}

function row(request: KeptRequest, keys: readonly Key[]): HTMLElement {
  const { id, operation, keyId, createdAt, message, durationMs } = request
  const key = keys.find(each => each.id === keyId)
  return listRow({
    name: [el('a', { href: addressOf('requests', { row: id }) }, operation), outcomeBadge(request)],
    below: [
      message !== null && el('p', { class: 'small' }, message),
      el(
        'p',
        { class: 'muted small' },
        when(createdAt),
        keyId !== null && ' · Key ',
        keyId !== null && (key ? keyName(key) : keyId),
        ` · ${durationMs.toFixed(1)} ms`,
      ),
    ],
  })
}

function outcomeBadge({ status, rule, error }: KeptRequest): HTMLElement {
  const tone = status < 400 ? 'ok' : status < 500 ? 'bad' : 'warn'
  return el('span', { class: `badge ${tone}` }, `${status} ${rule ?? error ?? 'OK'}`)
}

interface OneRequest {
  readonly request: KeptRequest
  readonly now: { readonly allowed: boolean; readonly message: string | null } | null
}

/** What the same request would get now. The reason is not repeated. */
function nowWords(request: KeptRequest, { allowed, message }: NonNullable<OneRequest['now']>): string {
  if (allowed) return 'The key may do this now.'
  return message === request.message
    ? 'It would be refused now, too.'
    : `It would be refused now: ${message ?? ''}`
}

function showOne({ request, now }: OneRequest): Child[] {
  const { id, keyId, sessionId, policyKeyId, field, error, createdAt, method, operation, durationMs } =
    request
  const fact = (name: string, value: Child): Child[] =>
    value === undefined || value === '' ? [] : [el('dt', {}, name), el('dd', {}, value)]
  return [
    el('p', { class: 'row-name' }, `${method} ${operation}`, outcomeBadge(request)),
    request.message !== null && el('p', {}, el('strong', {}, request.message)),
    now !== null && el('p', { class: now.allowed ? 'note' : 'note bad' }, nowWords(request, now)),
    el(
      'dl',
      { class: 'facts' },
      ...fact('When', when(createdAt)),
      ...fact('Took', `${durationMs.toFixed(1)} ms`),
      ...fact('Error', error ?? undefined),
      ...fact('Field', field ?? undefined),
      ...fact(
        'Key',
        keyId === null
          ? undefined
          : el('a', { class: 'mono', href: addressOf('keys', { row: keyId }) }, keyId),
      ),
      ...fact('Policy of key', policyKeyId ?? undefined),
      ...fact('Session', sessionId ?? undefined),
      ...fact(
        'Request id',
        el(
          'span',
          { class: 'copied mono' },
          id,
          copyButton('request id', () => id),
        ),
      ),
    ),
  ]
}
