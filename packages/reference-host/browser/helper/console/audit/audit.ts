import { keyName, readAllKeys } from '../all-keys.ts'
import { button, el, fill, type Child } from '../../../shared/dom.ts'
import { exactly } from '../../../shared/time.ts'
import type { ConsoleContext } from '../context.ts'
import { filterBar, type Choices } from '../filter-bar.ts'
import { newRows } from '../new-rows.ts'
import { listReader, olderButton } from '../older-rows.ts'
import type { ConsolePage } from '../page.ts'
import { addressOf } from '../route.ts'
import { empty, load } from '../states.ts'
import type { AuditRow, Key } from '../wire.ts'

/** The kinds of changes that a person chooses from, as the actions of each. */
const KINDS: Choices = [
  ['key.create', 'Keys created'],
  ['key.change,key.rotate', 'Keys changed or replaced'],
  ['key.pause,key.resume', 'Keys paused'],
  ['key.revoke,key.retire,session.revokeKeys', 'Keys revoked'],
  ['approval.approve,approval.deny', 'Payments approved or denied'],
  ['account.revoke,account.freeze,account.unfreeze', 'The account'],
  ['session.create,session.end', 'Sessions'],
]
/** Programs start sessions all the time: they are shown only where they are asked for. */
const ALL_BUT_SESSIONS = KINDS.slice(0, -1).map(([actions]) => actions)

interface Page {
  readonly rows: readonly AuditRow[]
  readonly nextCursor: string | null
}

/** The page of who changed what in the account. Its filters are in the address. */
export const auditPage: ConsolePage = {
  id: 'audit',
  title: 'Audit',
  icon: 'audit',
  about: 'Who created, changed, paused, revoked, froze or approved what, in the last 90 days.',
  actions: context => [button('Refresh', () => context.refresh(), 'small')],
  render(context) {
    const body = el('div', { class: 'card lines' })
    const bar = filterBar(context, {
      what: 'audit',
      filters: [
        { name: 'keyId', label: 'Key', kind: 'key' },
        { name: 'action', label: 'What', kind: 'choice', any: 'All but sessions', choices: KINDS },
        { name: 'from', label: 'From', kind: 'day' },
        { name: 'to', label: 'To', kind: 'day' },
      ],
      show: chosen => void showRows(context, body, chosen),
    })
    return [...bar.elements, body]
  },
}

async function showRows(context: ConsoleContext, body: HTMLElement, chosen: URLSearchParams): Promise<void> {
  const query = new URLSearchParams({
    limit: '50',
    action: ALL_BUT_SESSIONS.join(','),
    ...Object.fromEntries(chosen),
  })
  const readPage = listReader<Page>(context, '/audit', query, ({ rows }) => rows)
  await load<Page & { readonly keys: readonly Key[] }>(body, {
    what: 'what was changed',
    async read() {
      const [page, keys] = await Promise.all([readPage(null), readAllKeys(context)])
      if (!page.ok) return page
      return keys.ok ? { ok: true, data: { ...page.data, keys: keys.data } } : keys
    },
    show({ keys, ...first }) {
      const shown: AuditRow[] = []
      const lines = el('tbody')
      const table = el(
        'table',
        { class: 'audit-table' },
        el('thead', {}, el('tr', {}, ...COLUMNS.map(name => el('th', { scope: 'col' }, name)))),
        lines,
      )
      const note = el('div')
      const add = ({ rows }: Page): void => {
        const added = newRows(shown, rows, ({ id }) => id)
        shown.push(...added)
        lines.append(...added.map(each => line(each, keys)))
        table.hidden = shown.length === 0
        fill(note, shown.length === 0 && noneFound(chosen))
      }
      add(first)
      return [note, table, olderButton(first, readPage, add)]
    },
  })
}

const COLUMNS = ['Time', 'What happened', 'Key', 'By']

function noneFound(chosen: URLSearchParams): HTMLElement {
  return chosen.size === 0
    ? empty('Nothing was changed.', 'Keys that are created, changed or revoked appear here.')
    : empty('No changes match these filters.', 'Change or clear the filters.')
}

function line({ at, text, action, target, keyId, by }: AuditRow, keys: readonly Key[]): HTMLElement {
  const key = action.startsWith('key.') ? keyLink(target, keys) : 'None'
  return el(
    'tr',
    {},
    el('td', { class: 'audit-at' }, exactly(at)),
    el('td', { class: 'audit-text' }, text),
    el('td', { 'data-name': 'Key' }, key),
    el('td', { 'data-name': 'By' }, keyId === null ? BY[by] : keyLink(keyId, keys)),
  )
}

/** What an actor without a key is called. */
const BY: Readonly<Record<string, string>> = { wallet: 'Wallet', operator: 'Operator', partner: 'Partner' }

/** Links to a key. One that was deleted has no page. */
function keyLink(id: string, keys: readonly Key[]): Child {
  const key = keys.find(each => each.id === id)
  if (!key) return el('span', { class: 'mono small' }, `…${id.slice(-6)}`)
  return key.console ? 'Console' : el('a', { href: addressOf('keys', { row: id }) }, keyName(key))
}
