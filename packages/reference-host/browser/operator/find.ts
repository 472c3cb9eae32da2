import { sentence, type Reply } from '../shared/api.ts'
import { button, el, fill, whileSending, type Child } from '../shared/dom.ts'
import { announce } from '../shared/live.ts'
import { pastedKeyId, withoutSecret } from '../shared/pasted-key.ts'
import { requestTitle } from '../shared/request-words.ts'
import { when } from '../shared/time.ts'
import { accountCard } from './account-card.ts'
import type { Account, Found, FoundAccount } from './account-figures.ts'
import type { Only } from './accounts.ts'
import type { FiguresFeed } from './figures-feed.ts'
import type { KeptRequest } from './figures.ts'
import { problemNote, table } from './panel.ts'
import { openButton } from './requests.ts'

/** The box that finds accounts, and the account that is open. */
export interface FindPanel {
  readonly element: HTMLElement
  /** Shows the account with an id, and moves the focus there. */
  open(accountId: string): Promise<void>
  /** Reads the open account again, if there is one. */
  readAgain(): Promise<void>
}

/** What can be typed, in a sentence. */
const TAKES =
  'A whole key text or a key id, a wallet, an account or user id, a request id, the last four digits of a card, a card or transaction id.'

/**
 * Makes the box that finds an account by whatever an operator was told, and shows the account. What is typed is sent in the body of a request
 * and kept nowhere; the secret of a key leaves the box at once.
 */
export function findPanel(feed: FiguresFeed, showOnly: (what: Only) => void): FindPanel {
  const result = el('div', { class: 'panel-body', id: 'found' })
  /** The open account, and the key by which it was found. */
  let shown: { readonly accountId: string; readonly keyId?: string | undefined } | undefined
  const show = async (accountId: string, keyId?: string): Promise<HTMLElement | undefined> => {
    shown = { accountId, keyId }
    const reply = await read(accountId)
    // Something else was opened meanwhile.
    if (shown?.accountId !== accountId) return undefined
    if (!reply.ok) {
      if (reply.problem.status !== 0) fill(result, problemNote(reply.problem))
      return undefined
    }
    const card = accountCard(feed, reply.data, {
      foundKey: keyId,
      showOnly,
      again: () => show(accountId, keyId),
      close,
    })
    fill(result, card)
    return card
  }
  const read = (accountId: string): Promise<Reply<Account>> =>
    feed.call(`account?${new URLSearchParams({ id: accountId }).toString()}`)
  const open = async (accountId: string, keyId?: string): Promise<void> => {
    const card = await show(accountId, keyId)
    element.scrollIntoView()
    card?.querySelector<HTMLElement>('h3')?.focus()
  }
  const close = (): void => {
    shown = undefined
    fill(result)
    form.clear()
  }
  const find = async (text: string): Promise<void> => {
    const reply = await feed.call<Found>('find', { text })
    shown = undefined
    if (!reply.ok) return fill(result, el('p', { class: 'wrong', role: 'alert' }, sentence(reply.problem)))
    return showFound(reply.data)
  }
  const showFound = async (found: Found): Promise<void> => {
    const { accounts, requests } = found
    const [account] = accounts
    if (account && accounts.length === 1 && requests.length === 0)
      return open(account.accountId, found.what === 'key' ? found.id : undefined)
    if (accounts.length === 0 && requests.length === 0) {
      announce(NOTHING[found.what])
      return fill(
        result,
        el('p', {}, el('strong', {}, NOTHING[found.what])),
        el('p', { class: 'muted' }, TAKES),
      )
    }
    const heading = el('h3', { tabindex: -1 }, foundWords(found))
    fill(
      result,
      heading,
      requests.length > 0 ? requestTable(requests, open) : accountTable(found, open),
      found.more && el('p', { class: 'muted' }, `Only the first ${accounts.length} are listed.`),
    )
    heading.focus()
  }
  const form = findForm(find)
  const element = el(
    'section',
    { class: 'card panel', id: 'find', 'aria-labelledby': 'panel-find' },
    el('h2', { id: 'panel-find' }, 'Find and stop'),
    form.element,
    result,
  )
  return {
    element,
    open,
    async readAgain() {
      if (shown) await show(shown.accountId, shown.keyId)
    },
  }
}

/** Makes the form of the box. `find` gets what was typed, without secrets. */
function findForm(find: (text: string) => Promise<void>): { readonly element: HTMLElement; clear(): void } {
  const input = el('input', {
    id: 'find-text',
    class: 'input mono',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    maxlength: 512,
    'aria-describedby': 'find-help',
  })
  input.addEventListener('input', () => {
    const id = pastedKeyId(input.value)
    if (id === undefined) return
    input.value = id
    announce('Only the id of the key was kept. The rest of its text was forgotten.')
  })
  const submit = el('button', { class: 'button primary' }, 'Find')
  const element = el(
    'form',
    { class: 'field' },
    el('label', { for: 'find-text' }, 'Find a key, an account, a request, a card or a transaction'),
    el('div', { class: 'search-line' }, input, submit),
    el(
      'p',
      { class: 'help', id: 'find-help' },
      `${TAKES} Only the id of a whole key text is used; the rest is forgotten.`,
    ),
  )
  element.addEventListener('submit', event => {
    event.preventDefault()
    input.value = withoutSecret(input.value)
    if (!submit.disabled && input.value !== '') whileSending(submit, find(input.value))
  })
  return {
    element,
    clear() {
      input.value = ''
      input.focus()
    },
  }
}

const NOTHING: Readonly<Record<Found['what'], string>> = {
  key: 'No key of this host has this id.',
  wallet: 'No account has signed in with this wallet.',
  account: 'No account has this id.',
  card: 'No card of this host has these digits or this id.',
  transaction: 'No transaction of this host has this id.',
  request: 'Nothing on this host has this id. A request may be a read that succeeded, or too old.',
}

function foundWords({ what, id, accounts, requests }: Found): string {
  if (requests.length > 0)
    return requests.length === 1 ? 'One request has this id' : 'Several requests begin so'
  if (what === 'card') return `${accounts.length} accounts have a card that ends in ${id}`
  return `${accounts.length} accounts have this ${what}`
}

function requestTable(
  requests: readonly KeptRequest[],
  open: (accountId: string) => Promise<void>,
): HTMLElement {
  const rows = requests.map(request => {
    const { accountId } = request
    const account: Child =
      accountId === null
        ? el('span', { class: 'muted' }, 'none: no valid credential')
        : button('Open account', () => open(accountId), 'small')
    return [when(request.createdAt), openButton(request, open), requestTitle(request), account]
  })
  return table('Found requests', ['When', 'Decision', 'What', 'Account'], rows)
}

function accountTable({ accounts }: Found, open: (accountId: string) => Promise<void>): HTMLElement {
  const rows = accounts.map(account => [
    el('code', { class: 'breaks' }, ownerName(account)),
    cardWords(account),
    account.frozenAt !== null && el('span', { class: 'badge bad' }, 'Frozen'),
    button('Open account', () => open(account.accountId), 'small'),
  ])
  return table('Found accounts', ['Whose', 'Card', 'State', 'Account'], rows)
}

const ownerName = ({ wallet, name, externalId, accountId }: FoundAccount): string =>
  name ?? wallet ?? externalId ?? accountId

const cardWords = ({ cards = [] }: FoundAccount): string =>
  cards.map(({ last4, status }) => `•••• ${last4}, ${status.replace('_', ' ')}`).join('; ')
