import { short } from '../shared/address.ts'
import { button, el, type Child } from '../shared/dom.ts'
import { announce } from '../shared/live.ts'
import { money } from '../shared/money.ts'
import { requestTitle } from '../shared/request-words.ts'
import { utc, when } from '../shared/time.ts'
import type { Account, AccountCard, AccountKey } from './account-figures.ts'
import type { Only } from './accounts.ts'
import type { FiguresFeed } from './figures-feed.ts'
import { keyNameOf, stopping, type Stopping } from './incident.ts'
import { count, counted } from './numbers.ts'
import { copiedText, empty, keyOf, table } from './panel.ts'
import { openButton } from './requests.ts'

/** Options of `accountCard`. */
interface AccountCardOptions {
  /** The id of the key by which the account was found. */
  readonly foundKey: string | undefined
  /** Lists the requests of a key. */
  readonly showOnly: (what: Only) => void
  /** Shows the account again after a change. Resolves to its new element; undefined if it cannot be shown. */
  readonly again: () => Promise<HTMLElement | undefined>
  readonly close: () => void
}

/** Shows an account as an operator needs it in an incident: whose it is, what it has, and the buttons that stop it or one of its keys. */
export function accountCard(
  feed: FiguresFeed,
  account: Account,
  { foundKey, showOnly, again, close }: AccountCardOptions,
): HTMLElement {
  const stop = stopping(feed, async ({ ok, text }) => {
    const card = await again()
    const said = el('p', { class: `note ${ok ? 'ok' : 'warn'}`, tabindex: -1 }, text)
    ;(card ?? element).prepend(said)
    announce(text)
    said.focus()
  })
  const { kind, frozenAt } = account
  const element = el(
    'div',
    { class: 'panel-body account' },
    el(
      'div',
      { class: 'account-head' },
      el(
        'div',
        { class: 'row-name' },
        el('h3', { tabindex: -1, class: 'breaks' }, headingOf(account)),
        frozenAt !== null && el('span', { class: 'badge bad' }, 'Frozen'),
      ),
      el(
        'div',
        { class: 'buttons' },
        kind === 'user' &&
          (frozenAt === null
            ? button('Freeze account', () => stop.freeze(account), 'danger small')
            : button('Unfreeze', () => stop.unfreeze(account), 'small')),
        button('Close', close, 'small'),
      ),
    ),
    frozenAt !== null &&
      el(
        'p',
        { class: 'note bad' },
        `Frozen since ${utc(frozenAt)}: nothing leaves this account. Reads work, and money still arrives.`,
      ),
    factsOf(account),
    ...keyPart(account, foundKey, { stop, showOnly }),
    ...listsOf(account),
  )
  return element
}

function headingOf({ kind, name, wallet, externalId, accountId }: Account): string {
  if (kind === 'partner') return `Partner ${name ?? accountId}`
  return wallet ?? externalId ?? accountId
}

function factsOf(account: Account): HTMLElement {
  const { accountId, kind, partnerId, externalId, kycStatus, createdAt, money: has } = account
  const facts: readonly (readonly [name: string, value: Child])[] = [
    [kind === 'partner' ? 'Partner id' : 'Account', copiedText('account id', accountId)],
    ['Balance', has !== null && `${money(has.availableCents)} USD`],
    [
      'Held',
      has !== null && has.heldCents > 0 && `${money(has.heldCents)} USD for card payments and withdrawals`,
    ],
    ['Put aside', has !== null && has.contractsCents > 0 && `${money(has.contractsCents)} USD`],
    ['User of partner', partnerId !== null && `${partnerId}, who calls it ${externalId ?? ''}`],
    ['Identity', kycStatus !== null && kycStatus.replaceAll('_', ' ')],
    ['Since', utc(createdAt)],
  ]
  return el(
    'dl',
    { class: 'facts' },
    ...facts.flatMap(([name, value]) => (value ? [el('dt', {}, name), el('dd', {}, value)] : [])),
  )
}

/** What the rows of keys do. */
interface KeyPart {
  readonly stop: Stopping
  readonly showOnly: (what: Only) => void
}

const isOver = ({ state }: AccountKey): boolean => state === 'revoked' || state === 'expired'

/** Lists the keys: the one that was found first, those that have ended behind a summary. */
function keyPart(account: Account, foundKey: string | undefined, part: KeyPart): Child[] {
  const { keys, moreKeys } = account
  const isFound = ({ id }: AccountKey): boolean => id === foundKey
  const shown = [...keys.filter(isFound), ...keys.filter(key => !isFound(key) && !isOver(key))]
  const over = keys.filter(key => !isFound(key) && isOver(key))
  const rowsOf = (some: readonly AccountKey[]) =>
    some.map(key => keyRow(account, key, { ...part, isFound: isFound(key) }))
  const head = ['Key', 'State', 'Limits', 'Last used', 'Actions']
  return [
    el('h4', {}, `Keys that work or are paused (${count(keys.filter(key => !isOver(key)).length)})`),
    shown.length === 0 ? empty('None.') : table('Keys of the account', head, rowsOf(shown)),
    over.length > 0 &&
      el(
        'details',
        {},
        el('summary', {}, `${counted(over.length, 'key')} that ended`),
        table('Keys of the account that ended', head, rowsOf(over)),
      ),
    moreKeys && more(`npx gatewright keys list ${account.accountId}`),
  ]
}

function keyRow(
  { accountId, kind }: Account,
  key: AccountKey,
  { stop, showOnly, isFound }: KeyPart & { readonly isFound: boolean },
): Child[] {
  const own = key.pauses.some(({ lineageId }) => lineageId === key.lineageId)
  const name = keyNameOf(key)
  const requests = (): void =>
    showOnly({
      words: `requests of key ${name}`,
      // A partner's key acts for the accounts of its users.
      query: kind === 'partner' ? { key: key.id } : { account: accountId, key: key.id },
    })
  // A screen reader says which key a button is about.
  const act = (label: string, press: () => unknown, tone = ''): HTMLElement => {
    const made = button(label, press, `${tone} small`.trim())
    made.setAttribute('aria-label', `${label} ${name}`)
    return made
  }
  const pause =
    key.state === 'live' ? act('Pause', () => stop.pause(key)) : own && act('Resume', () => stop.resume(key))
  return [
    el(
      'span',
      { class: 'account-key' },
      el('strong', {}, name),
      isFound && el('span', { class: 'badge' }, 'Found'),
      el('span', { class: 'copied small' }, el('code', { class: 'breaks' }, key.id)),
    ),
    keyBadge(key),
    key.limits ?? el('span', { class: 'muted' }, 'None'),
    key.lastUsedAt === null ? 'Never' : when(key.lastUsedAt),
    el(
      'span',
      { class: 'buttons' },
      !isOver(key) && !key.console && pause,
      !isOver(key) && act('Revoke', () => stop.revoke(key), 'danger'),
      act('Requests', requests),
    ),
  ]
}

/** The state of a key. */
function keyBadge(key: AccountKey): HTMLElement {
  const { state, pauses, lineageId } = key
  const badge = (tone: string, words: string): HTMLElement =>
    el('span', { class: `badge ${tone}`.trim() }, words)
  if (state === 'revoked') return badge('bad', 'Revoked')
  if (state === 'expired') return badge('', 'Expired')
  if (state === 'held') return badge('warn', 'Held since a restore')
  if (state === 'paused') {
    const own = pauses.find(pause => pause.lineageId === lineageId)
    return badge('warn', own ? `Paused by the ${own.by}` : 'Paused with a key above')
  }
  return key.allowsNothing ? badge('bad', 'Blocked') : badge('ok', 'Active')
}

/** How many rows of a list are shown without a click. */
const SHORT_LIST = 5

function listsOf(account: Account): Child[] {
  const { keys, cards, sessions, liveSessions, refusals, actions } = account
  const nameOf = (keyId: string | null): Child => {
    const key = keys.find(({ id }) => id === keyId)
    if (key) return keyNameOf(key)
    return keyId === null ? el('span', { class: 'muted' }, 'none') : short(keyId)
  }
  return [
    list(`${counted(cards.length, 'open card')}${account.moreCards ? ' or more' : ''}`, 'Open cards', {
      head: ['Card', 'State', 'Limit', 'Made by key'],
      rows: cards.map(card => [
        el('span', { class: 'mono' }, `•••• ${card.last4}`),
        cardState(card),
        card.limit === null
          ? 'None of its own'
          : `${money(card.limit.amountCents)} USD ${card.limit.frequency === 'allTime' ? 'in total' : ''}`.trim(),
        nameOf(card.keyId),
      ]),
    }),
    list(counted(liveSessions, 'live session'), 'Live sessions', {
      head: ['Session', 'Key', 'Began', 'Ends'],
      rows: sessions.map(({ sessionId, keyId, issuedAt, expiresAt }) => [
        short(sessionId),
        nameOf(keyId),
        when(issuedAt),
        when(expiresAt),
      ]),
    }),
    list(refusals.length === 0 ? '0 refusals' : 'The latest refusals', 'The latest refusals', {
      head: ['When', 'Decision', 'What', 'Key'],
      rows: refusals.map(request => [
        when(request.createdAt),
        openButton(request),
        requestTitle(request),
        keyOf(request),
      ]),
    }),
    list('What operators did', 'What operators did', {
      head: ['When', 'What', 'Details'],
      rows: actions.map(({ at, command, detail }) => [
        when(at),
        command,
        el('span', { class: 'breaks' }, detail),
      ]),
    }),
  ]
}

interface List {
  readonly head: readonly string[]
  readonly rows: readonly (readonly Child[])[]
}

/** A list behind a summary, which is open if it is short. Without rows the summary is all. */
function list(summary: string, caption: string, { head, rows }: List): Child {
  if (rows.length === 0)
    return caption === 'What operators did' ? false : el('p', { class: 'muted' }, `${summary}.`)
  return el(
    'details',
    { open: rows.length <= SHORT_LIST },
    el('summary', {}, summary),
    table(`${caption} of the account`, head, rows),
  )
}

function cardState({ status, lockReason }: AccountCard): HTMLElement {
  const words = { active: 'Active', locked: 'Locked', not_activated: 'Not activated', canceled: 'Canceled' }[
    status
  ]
  const why = lockReason === 'key_revoked' ? ', its key was revoked' : ''
  return el('span', { class: `badge ${status === 'active' ? 'ok' : 'warn'}` }, `${words}${why}`)
}

const more = (command: string): HTMLElement =>
  el('p', { class: 'small muted' }, 'There are more: ', el('code', {}, command))
