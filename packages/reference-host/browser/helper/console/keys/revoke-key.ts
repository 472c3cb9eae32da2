import type { Reply } from '../../../shared/api.ts'
import { counted } from '../../../shared/counted.ts'
import { ask } from '../../../shared/dialog.ts'
import { el, fill, type Child } from '../../../shared/dom.ts'
import { announce } from '../../../shared/live.ts'
import { money } from '../../../shared/money.ts'
import { fromNow } from '../../../shared/time.ts'
import { keyName } from '../all-keys.ts'
import type { ConsoleContext } from '../context.ts'
import type { KeyAction } from './key-actions.ts'
import { keysBelow } from './key-tree.ts'
import { notDone, problemNote } from '../states.ts'
import { isLive, type Card, type Key, type Payin, type Session } from '../wire.ts'

/**
 * Revokes a key after a person has confirmed it. The dialog says what depends on the key. For a root, whose end can end many
 * others, the person types its name.
 */
export async function revokeKey(
  context: ConsoleContext,
  key: Key,
  { keys, problemBox, reload }: KeyAction,
): Promise<void> {
  const isRoot = key.parentLineageId === null
  const typed = isRoot ? nameField(typedName(key)) : undefined
  const below = keysBelow(key, keys).filter(each => isLive(each))
  const cards = await cardChoice(context, [key, ...below])
  const yes = await ask({
    title: `Revoke ${keyName(key)}?`,
    body: [
      el('p', {}, 'Programs with this key, and keys below it, stop working at once. This cannot be undone.'),
      el(
        'ul',
        { class: 'depends' },
        el('li', {}, await sessionWords(context, [key, ...below])),
        el('li', {}, `${counted(below.length, 'key')} below it${namesOf(below)}`),
        el('li', {}, await payinWords(context, [key, ...below])),
        el('li', {}, key.lastUsedAt === null ? 'Never used' : `Last used ${fromNow(key.lastUsedAt)}`),
      ),
      cards.element,
      typed?.element,
    ],
    confirm: 'Revoke key',
    danger: true,
    ...(typed ? { check: typed.check } : {}),
  })
  if (!yes) return undefined
  const path = `/keys/${key.id}?cards=${cards.isLocked() ? 'lock' : 'keep'}`
  const reply: Reply<{ lockedCards?: number }> = await context.call(path, { method: 'DELETE' })
  if (!reply.ok) return fill(problemBox, problemNote(notDone('key', 'ended', reply.problem), reply.problem))
  const { lockedCards = 0 } = reply.data
  announce(`The key is revoked.${lockedCards > 0 ? ` ${counted(lockedCards, 'card')} locked.` : ''}`)
  return reload()
}

/** How many names of keys below a sentence lists. */
const NAMED = 5

function namesOf(below: readonly Key[]): string {
  if (below.length === 0) return ''
  const rest = below.length > NAMED ? ', …' : ''
  return `: ${below.slice(0, NAMED).map(keyName).join(', ')}${rest}`
}

/** Asks whether the cards of the keys are locked, and names those that they made. Which others they have revealed, only the host knows. */
async function cardChoice(
  { call }: ConsoleContext,
  keys: readonly Key[],
): Promise<{ readonly element: Child; isLocked(): boolean }> {
  const box = el('input', { type: 'checkbox', id: 'lock-cards', checked: true })
  const page: Reply<{ cards: readonly Card[] }> = await call('/cards?limit=100')
  const made = page.ok
    ? page.data.cards.filter(card => keys.some(({ lineageId }) => lineageId === card.keyLineageId))
    : []
  const digits = made.map(({ last4 }) => `•••• ${last4}`).join(', ')
  const count = page.ok ? `${counted(made.length, 'card')} made` : 'Its cards cannot be counted now'
  const element = el(
    'div',
    { class: 'choice' },
    box,
    el(
      'label',
      { for: 'lock-cards' },
      `Lock the cards that these keys made or showed (${count}${digits && `: ${digits}`}).`,
    ),
  )
  return { element, isLocked: () => box.checked }
}

/** Says how many open pay-ins the keys asked for, and what they reserve. Only the first page of open pay-ins is read. */
async function payinWords({ call }: ConsoleContext, keys: readonly Key[]): Promise<string> {
  const page: Reply<{ payins: readonly Payin[]; nextCursor: string | null }> = await call(
    '/subscriptions/payins?status=awaiting_payment,confirming&limit=100',
  )
  if (!page.ok) return 'Its open pay-ins cannot be counted now'
  const open = page.data.payins.filter(({ keyId }) => keys.some(({ id }) => id === keyId))
  const cents = open.reduce((sum, { amountCents }) => sum + amountCents, 0)
  const atLeast = page.data.nextCursor === null ? '' : 'At least '
  const count = `${atLeast}${counted(open.length, 'open pay-in')}`
  return open.length === 0 ? count : `${count}, ${money(cents)} USD reserved: they stay payable`
}

/** Says how many sessions of the keys are live. Only the first page of sessions is read. */
async function sessionWords({ call }: ConsoleContext, keys: readonly Key[]): Promise<string> {
  const page: Reply<{ sessions: readonly Session[]; nextCursor: string | null }> =
    await call('/sessions?limit=100')
  if (!page.ok) return 'Its live sessions cannot be counted now'
  const { sessions, nextCursor } = page.data
  const count = sessions.filter(({ keyId }) => keys.some(({ id }) => id === keyId)).length
  return nextCursor === null ? counted(count, 'live session') : `At least ${counted(count, 'live session')}`
}

/** What a person types to revoke a root: its label, or the last characters of its id. */
const typedName = ({ label, id }: Key): string => label ?? id.slice(-6)

/** A text as a page shows it, where several spaces are one. */
const shownText = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim()

function nameField(name: string): { readonly element: Child; check(): boolean } {
  const input = el('input', {
    class: 'input',
    id: 'revoke-name',
    autocomplete: 'off',
    spellcheck: false,
    'aria-describedby': 'revoke-wrong',
  })
  const wrong = el('p', { class: 'wrong', id: 'revoke-wrong' })
  const element = el(
    'div',
    { class: 'field' },
    el('label', { for: 'revoke-name' }, 'Type ', el('strong', {}, name), ' to revoke it'),
    input,
    wrong,
  )
  return {
    element,
    check() {
      const isSame = shownText(input.value) === shownText(name)
      wrong.textContent = isSame ? '' : 'This is not its name.'
      input.setAttribute('aria-invalid', String(!isSame))
      if (!isSame) input.focus()
      return isSame
    },
  }
}
