import { type Command, type CommandOutput, UsageError } from '@gatewright/host/cli'
import { accountOf } from './find-account.ts'
import { unwrap, revokedKeyOutput } from './partner-keys.ts'
import type { Services } from '../services/services.ts'

/** Commands on user keys, sessions and signing keys. */
export const credentialCommands: readonly Command<Services>[] = [
  {
    name: 'keys revoke',
    takes: ['KEY_ID'],
    summary: 'Revoke any API key, and end its sessions',
    example: '4fJ2sVbXq81TzKpL',
    confirm: 'Whoever uses the key is locked out at once.',
    run: async ({ issuer }, { positional: [keyId = ''] }) =>
      revokedKeyOutput(await issuer.revokeKey('operator', keyId)),
  },
  {
    name: 'sessions revoke',
    takes: ['SESSION_ID'],
    options: { account: 'with --keys: the account of a session that is no longer stored, from the log' },
    flags: { keys: 'also revoke the keys that the session created, with all keys below them' },
    summary: 'End a session and those minted from it; with --keys also revoke the keys they created',
    example: '9QmZr0c2VbN4xWtYkLs7Pd --keys',
    confirm: 'Whoever uses the session is locked out at once.',
    async run(context, { positional: [sessionId = ''], options, flags }) {
      if (flags.has('keys')) return endWithKeys(context, sessionId, options['account'])
      if (options['account'] !== undefined) throw new UsageError('--account is only for --keys')
      const ended = unwrap(await context.issuer.endSession('operator', sessionId))
      if (ended === 0) throw new UsageError(`nothing was ended: no live session ${sessionId}`)
      return { data: { sessionId, ended }, lines: [`${ended} sessions ended.`] }
    },
  },
  {
    name: 'signing-keys list',
    takes: [],
    summary: 'List the keys that sign sessions, with their state',
    example: '',
    async run({ issuer }) {
      const keys = await issuer.listSigningKeys()
      const rows = keys.map(key => [key.kid, key.algorithm, key.state])
      return { data: keys, table: [['KID', 'ALGORITHM', 'STATE'], ...rows] }
    },
  },
  {
    name: 'signing-keys rotate',
    takes: [],
    summary: 'Announce the next signing key; hosts start to use it by themselves',
    example: '',
    async run({ issuer }) {
      const announced = await issuer.rotateSigningKey()
      return {
        data: { announced },
        lines: [announced ? 'A successor is announced.' : 'A successor is announced already.'],
      }
    },
  },
  {
    name: 'signing-keys revoke',
    takes: ['KID'],
    summary: 'Drop a leaked signing key at once',
    example: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
    confirm: 'Every session that it signed fails as soon as verifiers read the key set again.',
    async run({ issuer }, { positional: [kid = ''] }) {
      if (!(await issuer.dropSigningKey(kid))) throw new UsageError(`no signing key ${kid}`)
      return { data: { kid, dropped: true }, lines: [`${kid} is dropped.`] }
    },
  },
]

async function endWithKeys(
  { issuer, backend }: Services,
  sessionId: string,
  account: string | undefined,
): Promise<CommandOutput> {
  const accountId = account === undefined ? undefined : await accountOf(backend.sql, account)
  const both = await issuer.endSessionWithKeys('operator', sessionId, accountId)
  if (!both.ok)
    throw new UsageError(`session ${sessionId} is no longer stored: give its account with --account`)
  const { sessions, keys } = both.value
  if (sessions === 0 && keys === 0)
    throw new UsageError(`nothing was ended: no live session ${sessionId}, and no live key that it created`)
  const lines = [`${sessions} sessions ended, ${keys} keys revoked.`]
  return { data: { sessionId, ended: sessions, revokedKeys: keys }, lines }
}
