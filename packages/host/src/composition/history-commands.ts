import { CommandError, type Command } from '../cli/command.ts'
import { isoOrNull } from '../cli/cell.ts'
import { listCommand, MAX_LISTED } from '../cli/list.ts'
import { acceptLostHistory, countOpenLosses, listLostHistory } from '../storage/lost-history.ts'
import type { HostServices } from './host-services.ts'

/** Commands on writes that the database had acknowledged and has lost. */
export const historyCommands: readonly Command<Pick<HostServices, 'db' | 'clock'>>[] = [
  listCommand({
    name: 'history list',
    takes: [],
    summary: `List acknowledged writes that the database has lost, at most ${MAX_LISTED}, newest first`,
    example: '',
    rows: async ({ db }: Pick<HostServices, 'db'>) =>
      (await listLostHistory(db, MAX_LISTED)).map(
        ({ hostId, foundAt, keptAt, acknowledgedAt, acceptedAt }) => ({
          hostId,
          foundAt: isoOrNull(foundAt),
          keptAt: isoOrNull(keptAt),
          acknowledgedAt: isoOrNull(acknowledgedAt),
          acceptedAt: isoOrNull(acceptedAt),
        }),
      ),
    columns: {
      FOUND: 'foundAt',
      'LOST FROM': 'keptAt',
      TO: 'acknowledgedAt',
      ACCEPTED: 'acceptedAt',
      HOST: 'hostId',
    },
    dropFirst: ['HOST', 'FOUND'],
    empty: 'The database has lost nothing that hosts have noticed.',
  }),
  {
    name: 'history accept',
    takes: [],
    summary: 'Accept that the database has lost writes: hosts become ready again',
    example: '',
    confirm:
      'Hosts become ready although clients were told that the lost writes had succeeded. First make sure that there is one primary, and compare the ledger with the providers.',
    async subject({ db }) {
      const losses = await countOpenLosses(db)
      if (losses === 0) throw new CommandError('there is no loss to accept', 'nothing_to_accept')
      return `Accept ${losses === 1 ? 'one loss' : `${losses} losses`} of acknowledged writes`
    },
    async run({ db, clock }) {
      const accepted = await acceptLostHistory(db, clock.now())
      return { data: { accepted }, lines: [`Accepted: ${accepted}. Hosts become ready within 5 s.`] }
    },
  },
]
