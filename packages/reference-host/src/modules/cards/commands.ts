import type { KeyLineage } from '@gatewright/session-issuer/internal'
import type { HostServices } from '@gatewright/host'
import { CommandError, UsageError, type CommandArguments, type Command } from '@gatewright/host/cli'
import { authorizationCommands } from './authorizations/commands.ts'
import type { Authorizations } from './authorizations/service.ts'
import { cancelCardsOf, lineagesFrom } from './cancel.ts'
import { deletedLineages } from './key-policies.ts'
import { cards } from './store.ts'

/** What the commands work with. */
interface CardCommandServices extends Pick<HostServices, 'backend' | 'clock' | 'issuer'> {
  readonly authorizations: Authorizations
}

/** Commands on payments by card, and on cards. */
export const commands: readonly Command<CardCommandServices>[] = [
  ...authorizationCommands,
  {
    name: 'cards cancel',
    takes: ['[CARD]'],
    options: { key: 'instead of CARD: cancel the cards that this key and the keys below it made' },
    summary: 'Cancel a card, or the cards that a key made',
    example: 'card_ba30b49c6d3c40fab2f1c1894b801b80',
    confirm: 'A canceled card cannot be used again.',
    check: targetOf,
    subject: subjectOf,
    async run(context, args) {
      const { cardId, key } = targetOf(args)
      const canceled =
        key === undefined ? await cancelCard(context, cardId as string) : await cancelCardsOfKey(context, key)
      return { data: { canceled }, lines: [`Cards canceled: ${canceled}.`] }
    },
  },
]

function targetOf({ positional: [cardId], options: { key } }: CommandArguments) {
  if ((cardId === undefined) === (key === undefined))
    throw new UsageError('give either CARD or --key KEY, not both')
  return { cardId, key }
}

async function subjectOf({ backend }: CardCommandServices, args: CommandArguments): Promise<string> {
  const { cardId, key } = targetOf(args)
  if (key !== undefined) return `Cancel all cards that key ${key} and the keys below it made.`
  const card = await cards.anyAccount.find(backend.sql, cardId as string)
  if (!card) throw new CommandError(`no card ${cardId}`)
  return `Cancel card ${card.id} of ${card.accountId}, which is ${card.status}.`
}

async function cancelCard({ backend, clock }: CardCommandServices, id: string): Promise<number> {
  return backend.sql.transaction(async tx => {
    const card = await cards.anyAccount.lock(tx, id)
    if (!card) throw new CommandError(`no card ${id}`)
    if (card.status === 'canceled') return 0
    await cards.cancelCard(tx, card, 'operator', clock.now())
    return 1
  })
}

async function cancelCardsOfKey(
  { backend, issuer, clock }: CardCommandServices,
  keyId: string,
): Promise<number> {
  const lineages = await lineagesOf({ backend, issuer }, keyId)
  if (lineages.length === 0)
    throw new CommandError(`no key ${keyId}; a deleted key is found by the id of its first key`)
  return cancelCardsOf(backend.sql, lineages, {
    reason: 'operator',
    now: clock.now(),
  })
}

/**
 * Returns the lineages of a key and of the keys below it. For a deleted key, `keyId` must be the id of the first key of its
 * lineage, and the keys below it are not found.
 */
async function lineagesOf(
  { backend, issuer }: Pick<HostServices, 'backend' | 'issuer'>,
  keyId: string,
): Promise<readonly KeyLineage[]> {
  const lineage = await issuer.lineageOf(keyId)
  if (!lineage) return deletedLineages(backend.sql, keyId)
  const { keys } = await backend.issuer.keys.load(lineage.accountId)
  return lineagesFrom(keys, keyId)
}
