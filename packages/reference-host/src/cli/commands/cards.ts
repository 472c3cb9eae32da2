import type { KeyLineage } from '@gatewright/session-issuer'
import * as token from '../../composition/registrations.ts'
import { cancelCardsOf, lineagesBelow } from '../../modules/cards/cancel.ts'
import { deletedLineages } from '../../modules/cards/key-policies.ts'
import { UsageError, type Command, type CommandContext } from '../command.ts'

/** Commands on cards. */
export const cardCommands: readonly Command[] = [
  {
    name: 'cards cancel',
    takes: ['[CARD]'],
    options: { key: 'instead of CARD: cancel the cards that this key and the keys below it made' },
    summary: 'Cancel a card, or the cards that a key made',
    example: 'card_ba30b49c6d3c40fab2f1c1894b801b80',
    confirm: 'A canceled card cannot be used again.',
    async run(context, { positional: [cardId], options: { key } }) {
      if ((cardId === undefined) === (key === undefined)) throw new UsageError('give CARD or --key KEY')
      const canceled =
        key === undefined ? await cancelCard(context, cardId as string) : await cancelOfKey(context, key)
      return { data: { canceled }, lines: [`${canceled} cards canceled.`] }
    },
  },
]

async function cancelCard({ backend, container, clock }: CommandContext, id: string): Promise<number> {
  const cards = container.get(token.CARDS)
  return backend.sql.transaction(async tx => {
    const card = await cards.lockById(tx, id)
    if (!card) throw new UsageError(`no card ${id}`)
    await cards.cancelCard(tx, card, 'operator', clock.now())
    return card.status === 'canceled' ? 0 : 1
  })
}

async function cancelOfKey(
  { backend, container, issuer, clock }: CommandContext,
  keyId: string,
): Promise<number> {
  const lineages = await lineagesOf({ backend, issuer }, keyId)
  if (lineages.length === 0) throw new UsageError(`no key ${keyId}`)
  return cancelCardsOf(backend.sql, container.get(token.CARDS), lineages, {
    reason: 'operator',
    now: clock.now(),
  })
}

/** The lineages of a key and of the keys below it; of a deleted key only its own, by the id of its first key. */
async function lineagesOf(
  { backend, issuer }: Pick<CommandContext, 'backend' | 'issuer'>,
  keyId: string,
): Promise<readonly KeyLineage[]> {
  const lineage = await issuer.lineageOf(keyId)
  if (!lineage) return deletedLineages(backend.sql, keyId)
  const { keys } = await backend.issuer.keys.load(lineage.accountId)
  return lineagesBelow(keys, keyId)
}
