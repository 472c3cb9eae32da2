import type { Reply } from '../../shared/api.ts'
import { counted } from '../../shared/counted.ts'
import { button, el, type Child } from '../../shared/dom.ts'
import { when } from '../../shared/time.ts'
import { readAllKeys } from './all-keys.ts'
import type { ConsoleContext } from './context.ts'
import { narrowKey, renameKey, revokeKey, rotateKey } from './key-actions.ts'
import { isFrozen, keyName, makerWords, policyLines } from './key-words.ts'
import type { ConsolePage } from './page.ts'
import { requestsOfKey } from './requests.ts'
import { addressOf } from './route.ts'
import { empty, load } from './states.ts'
import { isLive, type Key } from './wire.ts'

/** The page of the account's keys with their creators, and of the open consoles. */
export const keysPage: ConsolePage = {
  id: 'keys',
  title: 'Keys',
  icon: 'keys',
  about: 'A key lets a program use your account. Creating or rotating one asks your wallet for a signature.',
  actions: context => [button('Create key', () => context.actions.createKey(context.show), 'primary small')],
  render(context) {
    const body = el('div', { class: 'card lines' })
    const reload = (): Promise<void> =>
      load<Keys>(body, {
        what: 'your keys',
        read: () => readKeys(context),
        show: keys => render(context, keys, reload),
      })
    void reload()
    return [body]
  },
  drawer(context, id) {
    const body = el('div', { class: 'lines' })
    void load<readonly Key[]>(body, {
      what: 'this key',
      read: () => readAllKeys(context),
      show: keys => {
        const key = keys.find(each => each.id === id)
        return key ? showKey(context, key, keys) : [empty('No such key.', 'It ended more than 7 days ago.')]
      },
    })
    return { title: 'Key', body: [body] }
  },
}

/** Shows a key with the keys that it made and its latest requests. */
function showKey(context: ConsoleContext, key: Key, keys: readonly Key[]): Child[] {
  const below = keys.filter(each => each.createdBy?.keyId === key.id)
  return [
    el('p', { class: 'row-name' }, keyName(key), state(key)),
    el('p', { class: 'mono small' }, key.keyPrefix),
    el(
      'p',
      { class: 'muted small' },
      ...makerWords(key, keys),
      ' · Created ',
      when(key.createdAt),
      ...lastUse(key),
    ),
    ...policyLines(key.policy).map(line => el('p', { class: 'small' }, line)),
    el('p', { class: 'mono small' }, key.scopes.join(', ') || 'No scopes: it can do nothing.'),
    below.length > 0 && el('h3', {}, 'Keys that it made'),
    below.length > 0 &&
      el(
        'ul',
        {},
        ...below.map(each =>
          el('li', {}, el('a', { href: addressOf('keys', { row: each.id }) }, keyName(each))),
        ),
      ),
    el('h3', {}, 'Latest requests'),
    requestsOfKey(context, key.id),
  ]
}

interface Keys {
  readonly keys: readonly Key[]
  /** The id of the key of this console. */
  readonly ownId: string
}

async function readKeys(context: ConsoleContext): Promise<Reply<Keys>> {
  const [keys, own] = await Promise.all([
    readAllKeys(context),
    context.call<{ identity: { keyId: string } }>('/identity'),
  ])
  if (!keys.ok) return keys
  return own.ok ? { ok: true, data: { keys: keys.data, ownId: own.data.identity.keyId } } : own
}

function render(context: ConsoleContext, { keys, ownId }: Keys, reload: () => Promise<void>): Child[] {
  const own = keys.filter(key => !key.console)
  const live = own.filter(key => isLive(key))
  const ended = own.filter(key => !isLive(key))
  const consoles = keys.filter(key => key.console && isLive(key))
  const row = (key: Key): HTMLElement => keyRow(context, key, keys, reload)
  return [
    live.length === 0
      ? empty('You have no keys.', 'Create one, and choose what it may do and how much it may spend.')
      : el('ul', { class: 'rows' }, ...live.map(row)),
    el('h2', {}, 'Open consoles'),
    el('ul', { class: 'rows' }, ...consoles.map(key => consoleRow(context, key, key.id === ownId, reload))),
    ended.length > 0 &&
      el(
        'details',
        {},
        el('summary', {}, `Ended keys (${ended.length})`),
        el('ul', { class: 'rows' }, ...ended.map(row)),
      ),
  ]
}

function keyRow(
  context: ConsoleContext,
  key: Key,
  keys: readonly Key[],
  reload: () => Promise<void>,
): HTMLElement {
  const live = isLive(key)
  const problemBox = el('div')
  return el(
    'li',
    { class: 'row tall' },
    el(
      'div',
      { class: 'row-main' },
      el(
        'p',
        { class: 'row-name' },
        el('a', { href: addressOf('keys', { row: key.id }) }, keyName(key)),
        el('span', { class: 'mono small' }, key.keyPrefix),
        state(key),
      ),
      el(
        'p',
        { class: 'muted small' },
        ...makerWords(key, keys),
        ' · Created ',
        when(key.createdAt),
        ...lastUse(key),
      ),
      ...policyLines(key.policy).map(line => el('p', { class: 'small' }, line)),
      el(
        'details',
        { class: 'small' },
        el('summary', {}, counted(key.scopes.length, 'scope')),
        el('p', { class: 'mono' }, key.scopes.join(', ') || 'None: it can do nothing.'),
      ),
      problemBox,
    ),
    key.revokedAt === null &&
      el(
        'div',
        { class: 'row-actions' },
        live && button('Rename', () => renameKey(context, key, problemBox, reload), 'small'),
        live && button('Tighten', () => narrowKey(context, key, problemBox, reload), 'small'),
        live && button('Rotate', () => rotateKey(context, key), 'small'),
        // Shown even if the key has expired by the clock of this browser, which may be ahead.
        button('Revoke', () => revokeKey(context, key, problemBox, reload), 'danger small'),
      ),
  )
}

function state(key: Key): HTMLElement {
  if (key.revokedAt !== null) return el('span', { class: 'badge bad' }, 'Revoked')
  if (!isLive(key)) return el('span', { class: 'badge' }, 'Expired')
  if (isFrozen(key.policy)) return el('span', { class: 'badge bad' }, 'Frozen')
  return key.expiresAt === null
    ? el('span', { class: 'badge ok' }, 'Active')
    : el('span', { class: 'badge warn' }, 'Ends ', when(key.expiresAt))
}

function lastUse({ lastUsedAt }: Key): Child[] {
  return lastUsedAt === null ? [' · Never used'] : [' · Used ', when(lastUsedAt)]
}

function consoleRow(
  context: ConsoleContext,
  key: Key,
  isOwn: boolean,
  reload: () => Promise<void>,
): HTMLElement {
  const problemBox = el('div')
  return el(
    'li',
    { class: 'row' },
    el(
      'div',
      { class: 'row-main' },
      el(
        'p',
        { class: 'row-name' },
        'Console',
        isOwn && el('span', { class: 'badge ok' }, 'This page'),
        el('span', { class: 'badge' }, 'Moves no money'),
      ),
      el(
        'p',
        { class: 'muted small' },
        'Opened ',
        when(key.createdAt),
        ' by your wallet · Ends ',
        when(key.expiresAt ?? Date.now()),
      ),
      problemBox,
    ),
    !isOwn &&
      el(
        'div',
        { class: 'row-actions' },
        button('End', () => revokeKey(context, key, problemBox, reload), 'small'),
      ),
  )
}
