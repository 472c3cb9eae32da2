import type { Problem, Reply } from '../../../shared/api.ts'
import { ask } from '../../../shared/dialog.ts'
import { button, el, fill, whileSending, type Child } from '../../../shared/dom.ts'
import { readHost } from '../../../shared/host.ts'
import { announce } from '../../../shared/live.ts'
import { money, parseMoney } from '../../../shared/money.ts'
import { when } from '../../../shared/time.ts'
import { cardTile, withNames, type NamedCard } from './card-tile.ts'
import type { ConsoleContext } from '../context.ts'
import { listRow } from '../list-row.ts'
import { copiedId, factList, words } from './money-drawer.ts'
import type { DrawerContent } from '../page.ts'
import { addressOf } from '../route.ts'
import { withSignedKey } from '../signed-key.ts'
import { load, notDone, problemNote, unlessUnknown } from '../states.ts'
import type { Authorization, Card } from '../wire.ts'

/** How many payments the drawer shows. */
const LATEST = 5
/** The amount that a simulated payment starts with. */
const SAMPLE = '12.50'

const STATUSES: Readonly<Record<Authorization['status'], readonly [tone: string, word: string]>> = {
  authorized: ['warn', 'Pending'],
  cleared: ['ok', 'Completed'],
  declined: ['bad', 'Declined'],
  reversed: ['', 'Reversed'],
}

/** A card and its latest payments. */
interface Found {
  readonly card: NamedCard
  readonly payments: Reply<{ readonly authorizations: readonly Authorization[] }>
}

/** Makes the drawer of a card: its limit, its latest payments, and what can be done with it. */
export function cardDrawer(context: ConsoleContext, id: string): DrawerContent {
  const body = el('div', { class: 'lines' })
  const reload = (): Promise<void> =>
    load<Found>(body, {
      what: 'this card',
      read: () => readCard(context, id),
      show: found => cardLines(context, found, reload),
    })
  void reload()
  return { title: 'Card', body: [body] }
}

async function readCard(context: ConsoleContext, id: string): Promise<Reply<Found>> {
  const path = `/cards/${encodeURIComponent(id)}`
  const [read, payments] = await Promise.all([
    context.call<{ card: Card }>(path),
    context.call<{ authorizations: readonly Authorization[] }>(`${path}/authorizations?limit=${LATEST}`),
  ])
  if (!read.ok) return read
  const [card] = await withNames(context, [read.data.card])
  return { ok: true, data: { card: card as NamedCard, payments } }
}

function paymentLines(payments: Found['payments'], cardId: string): Child[] {
  if (!payments.ok) return [problemNote('The payments of this card cannot be shown.', payments.problem)]
  const { authorizations } = payments.data
  if (authorizations.length === 0) return [el('p', { class: 'muted' }, 'Nothing was paid with this card.')]
  return [
    el('ul', { class: 'rows' }, ...authorizations.map(paymentRow)),
    el(
      'p',
      {},
      el('a', { href: addressOf('transactions', { query: { cardId } }) }, 'All payments by this card'),
    ),
  ]
}

function cardLines(context: ConsoleContext, { card, payments }: Found, reload: () => Promise<void>): Child[] {
  const { id, status, createdAt, lockReason, keyLineageId } = card
  const problemBox = el('div')
  const isSandbox = readHost().environment === 'sandbox'
  return [
    cardTile(card),
    lockReason === 'key_revoked' &&
      el('p', {}, 'It is locked because a key that made it, or showed its number, was revoked.'),
    problemBox,
    el(
      'div',
      { class: 'buttons' },
      status === 'active' && button('Lock card', () => lock(context, id, problemBox, reload), 'danger small'),
      status === 'locked' && button('Unlock card', () => unlock(context, id), 'small'),
    ),
    el('h3', {}, 'Latest payments'),
    ...paymentLines(payments, id),
    isSandbox && status === 'active' && paymentForm(context, id),
    factList([
      ['Made', when(createdAt)],
      ['Card id', copiedId('card id', id)],
      ...(keyLineageId === null ? [] : [['Made by key', copiedId('key id', keyLineageId)] as const]),
    ]),
  ]
}

function paymentRow(authorization: Authorization): HTMLElement {
  const { id, status, amountCents, merchant, declineReason, createdAt } = authorization
  const [tone, word] = STATUSES[status]
  return listRow({
    name: [
      el('a', { href: addressOf('transactions', { query: { q: id } }) }, merchant.name),
      el('span', { class: `badge ${tone}`.trim() }, word),
    ],
    below: [
      el(
        'p',
        { class: 'muted small' },
        when(createdAt),
        declineReason !== null && ` · ${words(declineReason)}`,
      ),
    ],
    end: el('span', { class: 'number' }, money(-amountCents)),
  })
}

async function lock(
  context: ConsoleContext,
  id: string,
  problemBox: HTMLElement,
  reload: () => Promise<void>,
): Promise<void> {
  const yes = await ask({
    title: 'Lock this card?',
    body: [
      el(
        'p',
        {},
        'New payments with it are declined. Open ones stay. Unlocking it asks your wallet for a signature.',
      ),
    ],
    confirm: 'Lock card',
    danger: true,
  })
  if (!yes) return undefined
  const reply = await context.call(`/cards/${encodeURIComponent(id)}`, {
    method: 'PATCH',
    body: { status: 'locked' },
    headers: { 'idempotency-key': crypto.randomUUID() },
  })
  if (!reply.ok) return fill(problemBox, problemNote(notDone('card', 'locked', reply.problem), reply.problem))
  announce('The card is locked.')
  context.refresh()
  return reload()
}

/** Shows what failed in the drawer, which was opened again after the signature. */
function showInDrawer(happened: string, problem: Problem): void {
  document.querySelector('.drawer-body')?.prepend(problemNote(happened, problem))
}

function unlock(context: ConsoleContext, id: string): Promise<unknown> {
  return withSignedKey(
    context,
    ['cards.write'],
    callWithKey => callWithKey(`/cards/${encodeURIComponent(id)}`, { status: 'active' }, { method: 'PATCH' }),
    reply => {
      if (reply.ok) announce('The card is unlocked.')
      else showInDrawer(notDone('card', 'unlocked', reply.problem), reply.problem)
    },
  )
}

/** Makes the form that pays with the card as a merchant would. The wallet signs, because a console moves no money. */
function paymentForm(context: ConsoleContext, cardId: string): HTMLElement {
  const amount = el('input', { class: 'input', id: 'simulated-amount', inputmode: 'decimal', value: SAMPLE })
  const wrong = el('p', { class: 'wrong', id: 'simulated-wrong' })
  const pay = el('button', { class: 'button small' }, 'Simulate a payment')
  const form = el(
    'form',
    { class: 'field' },
    el('label', { for: 'simulated-amount' }, 'Pay with it, in USD'),
    el('div', { class: 'money-input' }, amount, pay),
    wrong,
    el('p', { class: 'help' }, 'Sandbox: as if a shop asked for it. Your wallet signs for one payment.'),
  )
  form.addEventListener('submit', event => {
    event.preventDefault()
    const amountCents = parseMoney(amount.value, 100_000_000)
    const isRight = amountCents !== undefined && amountCents > 0
    amount.setAttribute('aria-invalid', String(!isRight))
    amount.setAttribute('aria-describedby', isRight ? '' : 'simulated-wrong')
    wrong.textContent = isRight ? '' : 'Write an amount in dollars, such as 12.50.'
    if (isRight) whileSending(pay, simulate(context, { cardId, amountCents }))
    else amount.focus()
  })
  return form
}

function simulate(
  context: ConsoleContext,
  { cardId, amountCents }: { readonly cardId: string; readonly amountCents: number },
): Promise<unknown> {
  const body = { cardId, amountCents, merchant: { name: 'Sandbox Shop' } }
  return withSignedKey(
    context,
    ['cards.write'],
    callWithKey => callWithKey<{ authorization: Authorization }>('/sandbox/authorizations', body),
    reply => {
      context.transactions.clear()
      if (reply.ok) announce(outcomeOf(reply))
      else showInDrawer(unlessUnknown('Nothing was paid.', reply.problem), reply.problem)
    },
  )
}

function outcomeOf(reply: Extract<Reply<unknown>, { ok: true }>): string {
  const { status } = (reply.data as { authorization: Authorization }).authorization
  return status === 'declined' ? 'The payment was declined.' : 'The payment was authorized.'
}
