import { copyButton } from '../../../shared/copy.ts'
import { el, fill, type Child } from '../../../shared/dom.ts'
import { readHost } from '../../../shared/host.ts'
import { utc, when } from '../../../shared/time.ts'
import { scopeGroups, scopeName } from '../../key/rights.ts'
import { keySentence } from '../../key/sentence.ts'
import { capBar } from './cap-bar.ts'
import { tightestFirst } from './cap-words.ts'
import { keyName } from '../all-keys.ts'
import type { ConsoleContext } from '../context.ts'
import type { KeyAction } from './key-actions.ts'
import { keyButtons } from './key-menu.ts'
import { stateBadge } from './key-table.ts'
import { keysBelow, policyChain } from './key-tree.ts'
import { allowsNothing, makerWords, policyLines } from './key-words.ts'
import { readKeyCaps } from './read-caps.ts'
import { requestsOfKey } from '../requests/requests.ts'
import { addressOf } from '../route.ts'
import { load } from '../states.ts'
import { isLive, type Cap, type Key } from '../wire.ts'

/** Shows a key: what it may do, its limits, its latest requests, and the keys above and below it. */
export function showKey(context: ConsoleContext, key: Key, action: KeyAction): Child[] {
  const { keys, problemBox } = action
  const fact = (name: string, value: Child): Child[] => [el('dt', {}, name), el('dd', {}, value)]
  return [
    el('p', { class: 'row-name' }, el('strong', {}, keyName(key)), stateBadge(key) || 'Active'),
    ...rightsLines(key, keys),
    el('div', { class: 'buttons' }, ...keyButtons(context, key, action)),
    problemBox,
    ...limits(context, key),
    el('h3', {}, 'Latest requests'),
    requestsOfKey(context, key.id),
    el('h3', {}, 'Details'),
    el(
      'dl',
      { class: 'facts' },
      ...fact(
        'Key id',
        el(
          'span',
          { class: 'copied mono' },
          key.id,
          copyButton('key id', () => key.id),
        ),
      ),
      ...fact('Begins with', el('span', { class: 'mono' }, key.keyPrefix)),
      ...fact('Made', el('span', {}, makerWords(key, keys), ', ', when(key.createdAt))),
      ...fact('Last used', key.lastUsedAt === null ? 'Never' : when(key.lastUsedAt)),
      ...fact(...endFact(key)),
      ...fact('Above it', linksTo(keys.filter(({ lineageId }) => lineageId === key.parentLineageId))),
      ...fact('Below it', linksTo(keysBelow(key, keys))),
    ),
    ...rules(key),
  ]
}

/** What the key may do. Of one that has ended: when it ended, and what it could do. */
function rightsLines(key: Key, keys: readonly Key[]): Child[] {
  const { scopes, expiresAt, revokedAt } = key
  const rights = { scopes, policies: policyChain(key, keys), expiresAt: isLive(key) ? expiresAt : null }
  const sentence = keySentence(rights, readHost().scopes)
  if (isLive(key)) return [el('p', {}, sentence)]
  const ended = revokedAt === null ? 'Expired' : 'Revoked'
  return [
    el(
      'p',
      {},
      el('strong', {}, `${ended} ${utc(revokedAt ?? expiresAt ?? '')}.`),
      ' It may do nothing any more.',
    ),
    el('p', { class: 'muted' }, `Before: ${sentence}`),
  ]
}

function endFact({ revokedAt, expiresAt }: Key): [name: string, value: Child] {
  if (revokedAt !== null) return ['Revoked', when(revokedAt)]
  return ['Ends', expiresAt === null ? 'Never' : when(expiresAt)]
}

function limits(context: ConsoleContext, key: Key): Child[] {
  // A blocked key spends nothing, so that its limits say nothing.
  if (!isLive(key) || allowsNothing(key)) return []
  const body = el('div')
  void load<readonly Cap[]>(body, {
    what: 'the limits of this key',
    read: () => readKeyCaps(context, key.id),
    show: caps => [
      caps.length === 0
        ? el('p', { class: 'muted' }, 'No limit on what it spends.')
        : el(
            'ul',
            { class: 'cap-list' },
            ...tightestFirst(caps).map(cap =>
              capBar(cap, false, cap.inherited && el('span', { class: 'muted small' }, 'from a key above')),
            ),
          ),
    ],
  })
  return [el('h3', {}, 'Limits'), body]
}

/** The policy and the scopes as they are stored. */
function rules(key: Key): Child[] {
  const lines = policyLines(key)
  const groups = scopeGroups(key.scopes).map(({ name, scopes }) =>
    el('li', {}, `${name}: ${scopes.map(scopeName).join(', ')}`),
  )
  return [
    lines.length > 0 && el('h3', {}, 'Its own policy'),
    lines.length > 0 && el('ul', { class: 'small' }, ...lines.map(line => el('li', {}, line))),
    el(
      'details',
      {},
      el('summary', {}, `Scopes (${key.scopes.length})`),
      el('ul', { class: 'small' }, ...groups),
    ),
  ]
}

function linksTo(keys: readonly Key[]): Child {
  if (keys.length === 0) return 'None'
  const list = el('span', { class: 'key-links' })
  fill(list, ...keys.map(key => el('a', { href: addressOf('keys', { row: key.id }) }, keyName(key))))
  return list
}
