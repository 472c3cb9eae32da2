import { sentence, type Reply } from '../shared/api.ts'
import { ask } from '../shared/dialog.ts'
import { el, type Child } from '../shared/dom.ts'
import { money } from '../shared/money.ts'
import { fromNow } from '../shared/time.ts'
import type { Account, AccountKey, KeyEnd } from './account-figures.ts'
import type { FiguresFeed } from './figures-feed.ts'
import { noteFields, type Note } from './note-fields.ts'
import { counted } from './numbers.ts'

/** What an operator stops, and lets go on, in an incident. Each asks before it does anything, and who does it and why. */
export interface Stopping {
  freeze(account: Account): Promise<void>
  unfreeze(account: Account): Promise<void>
  pause(key: AccountKey): Promise<void>
  resume(key: AccountKey): Promise<void>
  revoke(key: AccountKey): Promise<void>
}

/** The outcome of an action, in a sentence. */
interface Outcome {
  readonly ok: boolean
  readonly text: string
}

/** The name of a key for people. */
export const keyNameOf = ({ label, id, console }: AccountKey): string =>
  label ?? (console ? 'Console' : `…${id.slice(-6)}`)

/** Who did the last thing on this page. The next dialog begins with it; a reload, and another token, forget it. */
const names = new WeakMap<FiguresFeed, string>()

/** Makes the actions on an account and its keys. `told` is called with the outcome of each. */
export function stopping(feed: FiguresFeed, told: (outcome: Outcome) => Promise<void>): Stopping {
  const act = async (question: Action): Promise<void> => {
    const fields = noteFields('Who does it', names.get(feed))
    const { title, body, confirm, danger, path, done } = question
    if (!(await ask({ title, body: [...body, ...fields.elements], confirm, danger }))) return
    const note: Note = fields.note()
    names.set(feed, note.by)
    const reply = await feed.call<ActionReply>(path, { ...question.values(), ...note })
    await told(reply.ok ? { ok: true, text: done(reply.data) } : { ok: false, text: notDone(reply) })
  }
  return {
    freeze: ({ accountId }) =>
      act({
        title: 'Freeze this account?',
        body: [
          el(
            'p',
            {},
            'Nothing leaves it at once: payments, withdrawals, bills and card payments are denied, and it makes no keys and cards. Reads work, and money still arrives.',
          ),
          el('p', {}, 'The owner sees that it is frozen. Unfreeze undoes it.'),
        ],
        confirm: 'Freeze account',
        danger: true,
        path: 'accounts/freeze',
        values: () => ({ accountId }),
        done: () => 'The account is frozen: nothing leaves it.',
      }),
    unfreeze: ({ accountId }) =>
      act({
        title: 'Unfreeze this account?',
        body: [el('p', {}, 'Whoever has its keys can pay again: revoke or pause the leaked ones first.')],
        confirm: 'Unfreeze',
        danger: false,
        path: 'accounts/unfreeze',
        values: () => ({ accountId }),
        done: () => 'The account may pay again.',
      }),
    pause: key =>
      act({
        title: `Pause ${keyNameOf(key)}?`,
        body: [
          el(
            'p',
            {},
            'Its sessions end. It, keys below it and the cards that they made do nothing until an operator resumes it.',
          ),
        ],
        confirm: 'Pause',
        danger: false,
        path: 'keys/pause',
        values: () => ({ keyId: key.id }),
        done: () => `${keyNameOf(key)} is paused.`,
      }),
    resume: key =>
      act({
        title: `Resume ${keyNameOf(key)}?`,
        body: [
          el(
            'p',
            {},
            'It, keys below it and the cards that they made work again, for whoever has its text. Programs need a new session.',
          ),
        ],
        confirm: 'Resume',
        danger: false,
        path: 'keys/resume',
        values: () => ({ keyId: key.id }),
        done: () => `${keyNameOf(key)} works again.`,
      }),
    async revoke(key) {
      const end: Reply<KeyEnd> = await feed.call(`key-end?${new URLSearchParams({ id: key.id }).toString()}`)
      if (!end.ok) return told({ ok: false, text: sentence(end.problem) })
      const cards = cardChoice(end.data)
      return act({
        title: `Revoke ${keyNameOf(key)}?`,
        body: [
          el(
            'p',
            {},
            'Programs with this key, and keys below it, stop working at once. This cannot be undone.',
          ),
          endList(key, end.data),
          cards.element,
        ],
        confirm: 'Revoke key',
        danger: true,
        path: 'keys/revoke',
        values: () => ({ keyId: key.id, ...cards.value() }),
        done: ({ lockedCards = 0 }) =>
          `${keyNameOf(key)} is revoked.${lockedCards > 0 ? ` ${counted(lockedCards, 'card')} locked.` : ''}`,
      })
    },
  }
}

/** What an action asks and sends. */
interface Action {
  readonly title: string
  readonly body: readonly Child[]
  readonly confirm: string
  readonly danger: boolean
  readonly path: string
  readonly values: () => Readonly<Record<string, string>>
  readonly done: (reply: ActionReply) => string
}

interface ActionReply {
  readonly lockedCards?: number
}

function notDone(reply: Extract<Reply<unknown>, { ok: false }>): string {
  const { status } = reply.problem
  return status === 0 || status >= 500
    ? 'It is not known whether it was done. Look at the account, and repeat it if it was not.'
    : `${sentence(reply.problem)} Nothing was changed.`
}

/** How many names of keys below a sentence lists. */
const NAMED = 5

/** Lists what ends with a key, with numbers. */
function endList(key: AccountKey, { sessions, below, cards, payins }: KeyEnd): HTMLElement {
  const names = below.slice(0, NAMED).map(({ label, id }) => label ?? `…${id.slice(-6)}`)
  const named = names.length === 0 ? '' : `: ${names.join(', ')}${below.length > NAMED ? ', …' : ''}`
  const words = [
    sessions === null ? 'The sessions of its users' : counted(sessions, 'live session'),
    `${counted(below.length, 'key')} below it${named}`,
    cards?.count === 0 && 'No open cards',
    payins !== null && payinWords(payins),
    key.lastUsedAt === null ? 'Never used' : `Last used ${fromNow(key.lastUsedAt)}`,
  ]
  return el('ul', { class: 'findings' }, ...words.map(each => each !== false && el('li', {}, each)))
}

function payinWords({ count, cents, more }: NonNullable<KeyEnd['payins']>): string {
  const words = `${more ? 'At least ' : ''}${counted(count, 'open pay-in')}`
  return count === 0 ? words : `${words}, ${money(cents)} USD reserved: they stay payable`
}

/** Asks whether the cards of a key are locked. Without cards, and for the key of a partner, there is nothing to ask. */
function cardChoice({ cards }: KeyEnd): {
  readonly element: Child
  value(): Readonly<Record<string, string>>
} {
  if (cards === null)
    return {
      element: el(
        'p',
        { class: 'small muted' },
        "The cards of a partner's key belong to many accounts and go on. ",
        el('code', {}, 'npx gatewright cards cancel --key KEY_ID'),
        ' cancels them.',
      ),
      value: () => ({}),
    }
  if (cards.count === 0) return { element: undefined, value: () => ({ cards: 'lock' }) }
  const box = el('input', { type: 'checkbox', id: 'lock-cards', checked: true })
  const digits = cards.listed.map(({ last4 }) => `••••\u00a0${last4}`).join(', ')
  const rest = cards.count > cards.listed.length ? ', …' : ''
  const text = `Lock the ${counted(cards.count, 'card')} that these keys made or showed: ${digits}${rest}`
  return {
    element: el('div', { class: 'choice' }, box, el('label', { for: 'lock-cards' }, text)),
    value: () => ({ cards: box.checked ? 'lock' : 'keep' }),
  }
}
