import type { HostServices } from '@gatewright/host'
import {
  listCommand,
  type Command,
  CommandError,
  UsageError,
  type CommandArguments,
  type CommandOutput,
} from '@gatewright/host/cli'
import { MAX_LISTED, isoOrNull, unwrap } from '@gatewright/host/internal'
import { cardChoiceOf, cardWords, endCardsOfKeys, endedCards } from '../cards/ended-keys.ts'
import { accountOf } from '../find-account.ts'
import { liveSessionsOf } from '../keys/live-sessions.ts'

type SessionCommandServices = Pick<HostServices, 'backend' | 'clock' | 'issuer'>

/** Commands on sessions. */
export const commands: readonly Command<SessionCommandServices>[] = [
  listCommand({
    name: 'sessions list',
    takes: ['ACCOUNT'],
    summary: `List the live sessions of an account, at most ${MAX_LISTED}, latest end first`,
    example: 'usr_79db7a61096340598de4661d67683883',
    async rows({ backend, clock }, { positional: [owner = ''] }) {
      const accountId = await accountOf(backend.sql, owner)
      const found = await liveSessionsOf(backend.issuer, accountId, clock.now())
      return found.map(({ sessionId, keyId, surface, scopes, label, ancestry, ...session }) => ({
        sessionId,
        keyId,
        surface,
        scopes,
        label,
        mintedFrom: ancestry.at(-1) ?? null,
        createdAt: isoOrNull(session.issuedAt),
        expiresAt: isoOrNull(session.expiresAt),
      }))
    },
    columns: { SESSION: 'sessionId', KEY: 'keyId', LABEL: 'label', EXPIRES: 'expiresAt', SCOPES: 'scopes' },
    dropFirst: ['LABEL', 'SCOPES'],
    empty: 'No live sessions.',
  }),
  {
    name: 'sessions revoke',
    takes: ['SESSION_ID'],
    options: {
      account: 'with --keys: the account of a session that is no longer stored, from the log',
      cards: 'with --keys: lock, cancel or keep the cards that these keys made or revealed. Default: lock',
    },
    flags: { keys: 'also revoke the keys that the session created, with all keys below them' },
    summary: 'End a session and those minted from it; with --keys also revoke the keys they created',
    example: '9QmZr0c2VbN4xWtYkLs7Pd --keys',
    confirm: 'Whoever uses the session is locked out at once.',
    check(args: CommandArguments) {
      cardChoiceOf(args)
      const alone = ['account', 'cards'].find(name => args.options[name] !== undefined)
      if (alone !== undefined && !args.flags.has('keys'))
        throw new UsageError(`--${alone} is only for --keys`)
    },
    async subject(_, args) {
      const {
        positional: [sessionId = ''],
        flags,
      } = args
      const cards = `${cardChoiceOf(args) ?? 'lock'} the cards of these keys`
      return `End session ${sessionId}${flags.has('keys') ? `, revoke the keys that it created, and ${cards}` : ''}.`
    },
    async run(context, args) {
      const {
        positional: [sessionId = ''],
        flags,
      } = args
      if (flags.has('keys')) return endWithKeys(context, args)
      const ended = unwrap(await context.issuer.endSession('operator', sessionId))
      if (ended === 0) throw new CommandError(`nothing was ended: no live session ${sessionId}`)
      return { data: { sessionId, ended }, lines: [`${ended} sessions ended.`] }
    },
  },
]

async function endWithKeys(
  { issuer, backend, clock }: SessionCommandServices,
  args: CommandArguments,
): Promise<CommandOutput> {
  const {
    positional: [sessionId = ''],
    options: { account },
  } = args
  const accountId = account === undefined ? undefined : await accountOf(backend.sql, account)
  const both = await issuer.endSessionWithKeys('operator', sessionId, accountId)
  if (!both.ok)
    throw new CommandError(`session ${sessionId} is no longer stored: give its account with --account`)
  const { sessions, keys } = both.value
  const choice = cardChoiceOf(args) ?? 'lock'
  const services = { db: backend.sql, backend, clock }
  const ended = await endCardsOfKeys(services, both.value, { choice, reason: 'operator' })
  if (sessions === 0 && keys === 0 && ended === 0)
    throw new CommandError(`nothing was ended: no live session ${sessionId}, and no live key that it created`)
  return {
    data: { sessionId, ended: sessions, revokedKeys: keys, ...endedCards(choice, ended) },
    lines: [`${sessions} sessions ended, ${keys} keys revoked. ${cardWords(choice, ended)}`],
  }
}
