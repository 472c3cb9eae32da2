import type { Reply } from '../../../shared/api.ts'
import { button, el, type Child } from '../../../shared/dom.ts'
import { money } from '../../../shared/money.ts'
import { keyName, readAllKeys } from '../all-keys.ts'
import type { ConsoleContext } from '../context.ts'
import { filterBar } from '../filter-bar.ts'
import { cardDrawer } from './card-drawer.ts'
import { cardTile, withNames, type NamedCard } from './card-tile.ts'
import type { ConsolePage } from '../page.ts'
import { empty, load } from '../states.ts'
import type { Card, Key } from '../wire.ts'

/** The cards of the account, and its keys. */
interface Found {
  readonly cards: readonly NamedCard[]
  readonly keys: readonly Key[]
}

/** The page of the account's cards. It shows no card numbers: a console cannot read them. */
export const cardsPage: ConsolePage = {
  id: 'cards',
  title: 'Cards',
  icon: 'cards',
  about: 'Cards made through the API. Lock one here if a payment was not yours.',
  actions: context => [button('Refresh', context.refresh, 'small')],
  drawer: cardDrawer,
  render(context) {
    const body = el('div', { class: 'card lines' })
    // The host has few cards of an account, so that one read has all of them.
    let reading: Promise<Reply<Found>> | undefined
    const read = async (): Promise<Reply<Found>> => {
      reading ??= readCards(context)
      const found = await reading
      // A read that failed is made again.
      if (!found.ok) reading = undefined
      else bar.add('keyLineageId', makersOf(found.data))
      return found
    }
    const bar = filterBar(context, {
      what: 'cards',
      filters: [
        { name: 'q', label: 'Search', kind: 'search', hint: 'Name, last digits, limit, id' },
        { name: 'keyLineageId', label: 'Made by key', kind: 'choice', choices: [] },
      ],
      show: query =>
        void load<Found>(body, {
          what: 'your cards',
          read,
          show: found => showCards(found, query),
        }),
    })
    return [...bar.elements, body]
  },
}

async function readCards(context: ConsoleContext): Promise<Reply<Found>> {
  const [reply, keys] = await Promise.all([
    context.call<{ cards: readonly Card[] }>('/cards'),
    readAllKeys(context),
  ])
  if (!reply.ok) return reply
  if (!keys.ok) return keys
  return { ok: true, data: { cards: await withNames(context, reply.data.cards), keys: keys.data } }
}

/** The keys that made cards, by their lineage: after a rotation the new key has the cards. */
function makersOf({ cards, keys }: Found): (readonly [lineage: string, name: string])[] {
  const lineages = new Set(cards.flatMap(({ keyLineageId }) => keyLineageId ?? []))
  return [...lineages].map(lineage => [lineage, makerName(keys, lineage) ?? `…${lineage.slice(-6)}`] as const)
}

/** The newest key of a lineage by its name; undefined if it was deleted. */
function makerName(keys: readonly Key[], lineage: string | null): string | undefined {
  const key = keys.find(({ lineageId }) => lineageId === lineage)
  return key && keyName(key)
}

function showCards({ cards, keys }: Found, query: URLSearchParams): Child[] {
  if (cards.length === 0) return [noCards()]
  const [text, lineage] = [query.get('q'), query.get('keyLineageId')]
  const chosen = cards.filter(
    card =>
      (lineage === null || card.keyLineageId === lineage) &&
      (text === null || mentions(card, makerName(keys, card.keyLineageId), text)),
  )
  if (chosen.length === 0)
    return [
      empty(
        text === null ? 'No cards match these filters.' : `No card mentions ${text}.`,
        'Change or clear the filters.',
      ),
    ]
  return [
    el(
      'ul',
      { class: 'cards' },
      ...chosen.map(card => el('li', {}, cardTile(card, makerName(keys, card.keyLineageId)))),
    ),
  ]
}

function mentions({ id, last4, name, limit }: NamedCard, maker: string | undefined, text: string): boolean {
  const amount = limit === null ? '' : money(limit.amount)
  const content = [id, last4, name, maker, amount, amount.replaceAll(',', '')].join(' ').toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every(word => content.includes(word))
}

const noCards = (): HTMLElement =>
  empty('You have no cards.', 'A program with a key that has the scope cards.write can create one.')
