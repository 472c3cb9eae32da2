import { button, el, fill, type Child } from '../../../shared/dom.ts'
import { whenHostIsBack } from '../../../shared/host-away.ts'
import { readHost } from '../../../shared/host.ts'
import { pastedKeyId } from '../../../shared/pasted-key.ts'
import { when } from '../../../shared/time.ts'
import { canPay, rightsWords } from '../../key/rights.ts'
import { usageBar } from './cap-bar.ts'
import { capAmount, capName, capUnit, tightestFirst } from './cap-words.ts'
import { keyName } from '../all-keys.ts'
import type { ConsoleContext } from '../context.ts'
import { keyMenu } from './key-menu.ts'
import { filterKeys, keyTree, policyChain, type KeyFilter, type KeyNode } from './key-tree.ts'
import { allowsNothing, policiesOf } from './key-words.ts'
import { readCaps } from './read-caps.ts'
import { addressOf } from '../route.ts'
import { empty } from '../states.ts'
import { isLive, type Cap, type Key } from '../wire.ts'

/** Shows the keys of the account as a table, with a filter above it. */
export function keyList(context: ConsoleContext, keys: readonly Key[], reload: () => Promise<void>): Child[] {
  if (keys.every(key => key.console))
    return [
      empty(
        'You have no keys.',
        'Create one, and choose what it may do and how much it may spend.',
        button('Create a key', () => context.actions.createKey(context.show), 'primary'),
      ),
    ]
  const problemBox = el('div')
  const limitOf = limitCells(context, filterKeys(keys, { state: 'live', text: '' }))
  const rows = el('tbody')
  const none = el('p', { class: 'muted', role: 'status' })
  const table = el(
    'table',
    { class: 'key-table' },
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        ...['Name', 'Rights', 'Closest limit', 'Last used'].map(name => el('th', { scope: 'col' }, name)),
        el('th', { scope: 'col' }, el('span', { class: 'unseen' }, 'Actions')),
      ),
    ),
    rows,
  )
  const show = (filter: KeyFilter): void => {
    const nodes = keyTree(filterKeys(keys, filter))
    table.hidden = nodes.length === 0
    const state = filter.state === 'live' ? 'active' : 'ended'
    none.textContent = nodes.length > 0 ? '' : `No ${state} keys${filter.text && ' match this text'}.`
    const menuOf = (key: Key): Child => keyMenu(context, key, { keys, problemBox, reload })
    fill(rows, ...nodes.map(node => row(node, keys, limitOf(node.key), menuOf(node.key))))
  }
  const form = filterForm(context, keys, show)
  return [form, problemBox, table, none]
}

function filterForm(
  context: ConsoleContext,
  keys: readonly Key[],
  show: (filter: KeyFilter) => void,
): HTMLElement {
  const before = context.filters()
  const count = (state: KeyFilter['state']): number => filterKeys(keys, { state, text: '' }).length
  const state = el('select', { class: 'input', id: 'key-state' })
  for (const [value, label] of [
    ['live', 'Active'],
    ['ended', 'Ended'],
  ] as const)
    state.append(
      el('option', { value, selected: before.get('state') === value }, `${label} (${count(value)})`),
    )
  const text = el('input', {
    class: 'input',
    id: 'key-text',
    type: 'search',
    autocomplete: 'off',
    spellcheck: false,
    placeholder: 'Name, id or whole key',
    value: before.get('text') ?? '',
  })
  const filter = (): KeyFilter => ({ state: state.value as KeyFilter['state'], text: text.value })
  const change = (): void => {
    // The whole text of a key, pasted after a leak: its secret must neither stay in the box nor get into the address.
    const pasted = pastedKeyId(text.value)
    if (pasted !== undefined) {
      text.value = pasted
      const found = keys.find(({ id }) => id === pasted)
      if (found) state.value = isLive(found) ? 'live' : 'ended'
    }
    const { state: chosen, text: typed } = filter()
    context.setFilters({ ...(chosen === 'ended' && { state: chosen }), ...(typed && { text: typed }) })
    show(filter())
  }
  state.addEventListener('change', change)
  text.addEventListener('input', change)
  show(filter())
  return el(
    'div',
    { class: 'key-filter' },
    el('label', { for: 'key-state', class: 'unseen' }, 'State'),
    state,
    el('label', { for: 'key-text', class: 'unseen' }, 'Find a key'),
    text,
  )
}

function row({ key, depth }: KeyNode, keys: readonly Key[], limit: Child, menu: Child): HTMLElement {
  const above = keys.find(({ lineageId }) => lineageId === key.parentLineageId)
  const name = el(
    'td',
    { class: 'key-cell' },
    el(
      'div',
      { class: 'row-name' },
      el('a', { href: addressOf('keys', { row: key.id }) }, keyName(key)),
      stateBadge(key),
    ),
    key.label !== null && el('div', { class: 'mono small muted' }, `…${key.id.slice(-6)}`),
    above && el('span', { class: 'unseen' }, `Below ${keyName(above)}`),
  )
  name.style.setProperty('--depth', String(depth))
  if (depth > 0) name.classList.add('below')
  return el(
    'tr',
    {},
    name,
    el('td', { 'data-name': 'Rights' }, ...rights(key, keys)),
    el('td', { 'data-name': 'Closest limit' }, limit),
    el(
      'td',
      { 'data-name': 'Last used', class: 'key-use' },
      key.lastUsedAt === null ? 'Never' : when(key.lastUsedAt),
    ),
    el('td', { class: 'key-menu' }, menu),
  )
}

function rights(key: Key, keys: readonly Key[]): Child[] {
  const policies = policyChain(key, keys)
  if (policies.some(({ allowOperations }) => allowOperations?.length === 0)) return ['Nothing']
  const isLess = policies.some(
    ({ allowOperations, denyOperations = [] }) => allowOperations !== undefined || denyOperations.length > 0,
  )
  const addresses = policiesOf(key).flatMap(({ allowedIps = [] }) => allowedIps)
  const words = rightsWords(key.scopes, readHost().scopes)
  return [
    words,
    isLess && el('div', { class: 'small muted' }, 'Except what a policy forbids'),
    addresses.length > 0 && el('div', { class: 'small muted' }, `From ${addresses.join(', ')}`),
  ]
}

/** The state of a key; nothing for an active one that does not end. */
export function stateBadge(key: Key): Child {
  if (key.revokedAt !== null) return el('span', { class: 'badge bad' }, 'Revoked')
  if (!isLive(key)) return el('span', { class: 'badge' }, 'Expired')
  if (key.pauses.length > 0) return el('span', { class: 'badge warn' }, 'Paused')
  if (allowsNothing(key)) return el('span', { class: 'badge bad' }, 'Blocked')
  return key.expiresAt !== null && el('span', { class: 'badge warn' }, 'Ends ', when(key.expiresAt))
}

/** Makes the cells with the tightest limit of each key, which is read after the table is shown. */
function limitCells(context: ConsoleContext, live: readonly Key[]): (key: Key) => Child {
  const cells = new Map(live.map(key => [key.id, el('div', { class: 'key-limit' })]))
  const ids = live.map(({ id }) => id)
  void readCaps(context, ids, (place, caps) => {
    const [key, cell] = [live[place] as Key, cells.get(ids[place] as string) as HTMLElement]
    if (caps.ok) fill(cell, ...limitWords(key, caps.data))
    else if (caps.problem.status === 0) whenHostIsBack(context.refresh)
    else fill(cell, el('span', { class: 'wrong' }, 'Cannot be shown'))
  })
  return ({ id }) => cells.get(id)
}

function limitWords(key: Key, all: readonly Cap[]): Child[] {
  const caps = all.filter(cap => isOnUse(key, cap))
  const [tightest] = tightestFirst(caps.filter(({ window }) => window !== 'operation'))
  const [each] = tightestFirst(caps)
  if (!tightest && each)
    return [
      el('span', { class: 'small' }, `${capAmount(each, each.cap)} ${capUnit(each)}`),
      el('span', { class: 'small muted' }, capName(each)),
    ]
  if (!tightest)
    return [el('span', { class: 'muted' }, canPay(key.scopes) && !allowsNothing(key) ? 'No limit' : '–')]
  const { cap, used } = tightest
  return [
    usageBar(tightest),
    el(
      'span',
      { class: 'small' },
      `${capAmount(tightest, used)} of ${capAmount(tightest, cap)} ${capUnit(tightest)}`,
    ),
    el(
      'span',
      { class: 'small muted' },
      tightest.inherited ? `${capName(tightest)}, shared` : capName(tightest),
    ),
  ]
}

/** Whether a cap is on something that the key may do. */
export function isOnUse(key: Pick<Key, 'scopes' | 'policy'>, { rule, operations }: Cap): boolean {
  const { scopes } = key
  if (allowsNothing(key)) return false
  if (rule === 'dailyWithdrawalCapCents') return scopes.includes('withdrawals.write')
  if (operations === null) return canPay(scopes)
  return operations.some(id => scopes.includes(`${id.slice(0, id.indexOf('.'))}.write`))
}
