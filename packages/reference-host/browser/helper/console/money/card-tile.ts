import type { Reply } from '../../../shared/api.ts'
import { el } from '../../../shared/dom.ts'
import { money } from '../../../shared/money.ts'
import { usageBar } from '../keys/cap-bar.ts'
import type { ConsoleContext } from '../context.ts'
import { addressOf } from '../route.ts'
import type { Card } from '../wire.ts'

const STATUSES: Readonly<Record<string, readonly [tone: string, word: string]>> = {
  active: ['ok', 'Active'],
  locked: ['warn', 'Locked'],
  notActivated: ['warn', 'Not activated'],
  canceled: ['bad', 'Canceled'],
}
const FREQUENCIES: Readonly<Record<string, string>> = {
  perAuthorization: 'for each payment',
  per24HourPeriod: 'in 24 hours',
  per7DayPeriod: 'in 7 days',
  per30DayPeriod: 'in 30 days',
  perYearPeriod: 'in a year',
  allTime: 'in total',
}

/** A card with the name that a program gave it, if it has one that this account can decrypt. */
export interface NamedCard extends Card {
  readonly name: string | undefined
}

/** Decrypts the names of cards. A name that was not encrypted with the key of the account is left out. */
export async function withNames(
  { call }: Pick<ConsoleContext, 'call'>,
  cards: readonly Card[],
): Promise<readonly NamedCard[]> {
  const items = cards.flatMap(({ id, encryptedName }) =>
    encryptedName === null ? [] : [{ id, encrypted: encryptedName }],
  )
  const names = new Map<string, string>()
  if (items.length > 0) {
    const reply: Reply<{ items: readonly { id: string; value?: string }[] }> = await call('/crypto/decrypt', {
      body: { items },
    })
    for (const { id, value } of reply.ok ? reply.data.items : [])
      if (value !== undefined && value.trim() !== '') names.set(id, value)
  }
  return cards.map(card => ({ ...card, name: names.get(card.id) }))
}

/** Makes the picture of a card: its name, digits and state, how much of its limit is used, and the name of the key that made it. */
export function cardTile(card: NamedCard, maker?: string): HTMLElement {
  const { id, name, status, brand, expirationMonth, expirationYear, disposable } = card
  const [tone, word] = STATUSES[status] ?? ['', status]
  const expires = `${String(expirationMonth).padStart(2, '0')}/${expirationYear}`
  return el(
    'div',
    { class: 'card-tile' },
    el(
      'p',
      { class: 'row-name' },
      el(
        'a',
        { class: name === undefined ? 'mono' : '', href: addressOf('cards', { row: id }) },
        ...(name === undefined ? digits(card) : [name]),
      ),
      el('span', { class: `badge ${tone}`.trim() }, word),
    ),
    el(
      'p',
      { class: 'muted small' },
      ...(name === undefined ? [] : [el('span', { class: 'mono' }, ...digits(card)), ' · ']),
      `${brand.toUpperCase()} · Until ${expires}${disposable ? ' · For one purchase' : ''}`,
    ),
    ...limitLines(card),
    maker !== undefined && el('p', { class: 'muted small' }, `Made by ${maker}`),
  )
}

const digits = ({ last4 }: Card): (HTMLElement | string)[] => [
  el('span', { 'aria-hidden': 'true' }, '•••• '),
  el('span', { class: 'unseen' }, 'Ends in '),
  last4,
]

function limitLines({ limit, spentCents }: Card): HTMLElement[] {
  if (limit === null) return [el('p', { class: 'small' }, 'No limit of its own')]
  const window = FREQUENCIES[limit.frequency] ?? limit.frequency
  if (typeof spentCents !== 'number')
    return [el('p', { class: 'small' }, `At most ${money(limit.amount)} USD ${window}`)]
  const left = Math.max(0, limit.amount - spentCents)
  return [
    usageBar({ cap: limit.amount, used: spentCents }),
    el(
      'p',
      { class: 'cap-words' },
      `${money(spentCents)} spent, `,
      el('strong', {}, `${money(left)} left`),
      ` of ${money(limit.amount)} USD ${window}`,
    ),
  ]
}
