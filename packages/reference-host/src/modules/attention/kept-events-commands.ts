import type { HostServices } from '@gatewright/host'
import { listCommand, type Command, CommandError } from '@gatewright/host/cli'
import { MAX_LISTED, money } from '@gatewright/host/internal'
import { referenceArgument } from '../command-arguments.ts'
import { handleKept, listKept } from './kept-events.ts'

/** The commands on events of providers that could not be applied: list them, and mark one as handled. */
export const commands: readonly Command<Pick<HostServices, 'backend' | 'clock'>>[] = [
  listCommand({
    name: 'provider-events list',
    takes: [],
    summary: 'List events of providers that could not be applied and wait for you, newest first',
    example: '',
    rows: ({ backend: { sql }, clock }) => listKept({ sql, clock }, MAX_LISTED),
    columns: {
      AT: 'at',
      PROVIDER: 'provider',
      TYPE: 'type',
      REASON: 'reason',
      AMOUNT: 'amountCents',
      CARD: 'cardId',
      OBJECT: 'objectId',
      MESSAGE: 'messageId',
      EVENT: 'id',
    },
    dropFirst: ['MESSAGE', 'AT', 'CARD'],
    empty: 'No events of providers wait.',
  }),
  {
    name: 'provider-events handled',
    takes: ['EVENT', 'REFERENCE'],
    summary:
      'Mark an event of a provider as handled, after you booked its money. It is never applied. REFERENCE is yours, such as a ticket',
    example: 'kept_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52 ticket-42',
    check: ({ positional: [, text = ''] }) => referenceArgument(text),
    async run({ backend: { sql }, clock }, { positional: [id = '', text = ''] }) {
      const reference = referenceArgument(text)
      const handled = await handleKept({ sql, clock }, id, reference)
      if (!handled) throw new CommandError(`no event ${id} waits: see npx gatewright provider-events list`)
      const { type, objectId, amountCents } = handled
      const amount = amountCents === null ? '' : ` of ${money(amountCents)}`
      return {
        data: { id, reference, event: handled },
        lines: [`${id} is handled: ${type}${amount} about ${objectId}.`],
      }
    },
  },
]
