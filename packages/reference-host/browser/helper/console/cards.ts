import { el } from '../../shared/dom.ts'
import { money } from '../../shared/money.ts'
import type { ConsolePage } from './page.ts'
import { addressOf } from './route.ts'
import { empty, load } from './states.ts'
import type { Card } from './wire.ts'

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

/** The page of the account's cards. It shows no card numbers: a console cannot read them. */
export const cardsPage: ConsolePage = {
  id: 'cards',
  title: 'Cards',
  icon: 'cards',
  about: 'Cards made through the API.',
  drawer(context, id) {
    const body = el('div', { class: 'lines' })
    void load<{ card: Card }>(body, {
      what: 'this card',
      read: () => context.call(`/cards/${encodeURIComponent(id)}`),
      show: ({ card }) => [
        tile(card),
        el('dl', { class: 'facts' }, el('dt', {}, 'Card id'), el('dd', { class: 'mono' }, card.id)),
      ],
    })
    return { title: 'Card', body: [body] }
  },
  render(context) {
    const body = el('div', { class: 'card lines' })
    void load<{ cards: readonly Card[] }>(body, {
      what: 'your cards',
      read: () => context.call('/cards'),
      show: ({ cards }) => [
        cards.length === 0
          ? noCards()
          : el('ul', { class: 'cards' }, ...cards.map(card => el('li', {}, tile(card)))),
      ],
    })
    return [body]
  },
}

const noCards = (): HTMLElement =>
  empty('You have no cards.', 'A program with a key that has the scope cards.write can create one.')

function tile({
  id,
  last4,
  brand,
  status,
  limit,
  expirationMonth,
  expirationYear,
  disposable,
}: Card): HTMLElement {
  const [tone, word] = STATUSES[status] ?? ['', status]
  const expires = `${String(expirationMonth).padStart(2, '0')}/${expirationYear}`
  const most =
    limit && `At most ${money(limit.amount)} USD ${FREQUENCIES[limit.frequency] ?? limit.frequency}`
  return el(
    'div',
    { class: 'card-tile' },
    el(
      'p',
      { class: 'row-name' },
      el(
        'a',
        { class: 'mono', href: addressOf('cards', { row: id }) },
        el('span', { 'aria-hidden': 'true' }, '•••• '),
        el('span', { class: 'unseen' }, 'Ends in '),
        last4,
      ),
      el('span', { class: `badge ${tone}`.trim() }, word),
    ),
    el(
      'p',
      { class: 'muted small' },
      `${brand.toUpperCase()} · Until ${expires}${disposable ? ' · For one purchase' : ''}`,
    ),
    el('p', { class: 'small' }, most ?? 'No limit of its own'),
  )
}
