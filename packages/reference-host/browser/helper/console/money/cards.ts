import { button, el } from '../../../shared/dom.ts'
import { cardDrawer } from './card-drawer.ts'
import { cardTile, withNames, type NamedCard } from './card-tile.ts'
import type { ConsolePage } from '../page.ts'
import { empty, load } from '../states.ts'
import type { Card } from '../wire.ts'

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
    void load<readonly NamedCard[]>(body, {
      what: 'your cards',
      read: async () => {
        const reply = await context.call<{ cards: readonly Card[] }>('/cards')
        return reply.ok ? { ok: true, data: await withNames(context, reply.data.cards) } : reply
      },
      show: cards => [
        cards.length === 0
          ? noCards()
          : el('ul', { class: 'cards' }, ...cards.map(card => el('li', {}, cardTile(card)))),
      ],
    })
    return [body]
  },
}

const noCards = (): HTMLElement =>
  empty('You have no cards.', 'A program with a key that has the scope cards.write can create one.')
