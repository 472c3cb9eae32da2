import type { HostServices } from '@gatewright/host'
import { listCommand, type Command, UsageError, type CommandArguments } from '@gatewright/host/cli'
import { instantArgument, integerArgument, isoOrNull, reportElapsed } from '@gatewright/host/internal'
import type { ListPosition } from '@gatewright/session-issuer/internal'
import { accountOf } from '../find-account.ts'

const MAX_ROWS = 1000

/** The command on the audit log of keys, policies and sessions. */
export const auditCommand: Command<Pick<HostServices, 'backend' | 'issuer' | 'progress'>> = listCommand({
  name: 'audit list',
  takes: [],
  options: {
    account: 'the account, user or partner id; required',
    limit: `how many rows, 1 to ${MAX_ROWS}; default 100`,
    before: 'only rows from before this instant (RFC 3339), or AT/ID: from after this row',
  },
  summary: 'List the changes of keys, policies and sessions of one account, newest first',
  example: '--account acc_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52 --limit 20',
  check: queryOf,
  async rows(services, args) {
    const { account, limit, position } = queryOf(args)
    const accountId = await accountOf(services.backend.sql, account)
    const read = services.issuer.listAudit(accountId, limit, position)
    const entries = await reportElapsed(services, 'Reading the audit log', read)
    return entries.map(({ at, expiresAt, ...entry }) => ({
      at: isoOrNull(at),
      keptUntil: isoOrNull(expiresAt),
      ...entry,
    }))
  },
  columns: {
    AT: 'at',
    BY: 'by',
    KEY: 'keyId',
    SESSION: 'sessionId',
    ACTION: 'action',
    TARGET: { value: 'target', kind: 'id' },
    LABEL: 'label',
  },
  dropFirst: ['SESSION', 'KEY'],
  empty: 'No rows.',
  note(rows, { options }) {
    const last = rows.at(-1)
    return last && rows.length === limitOf(options)
      ? `For the next page: --before ${last.at}/${last.id}`
      : undefined
  },
})

function queryOf({ options }: CommandArguments) {
  const { account, before } = options
  if (account === undefined) throw new UsageError('audit list needs --account')
  return { account, limit: limitOf(options), position: before === undefined ? undefined : positionOf(before) }
}

function limitOf({ limit = '100' }: CommandArguments['options']): number {
  return integerArgument('--limit', limit, 1, MAX_ROWS)
}

function positionOf(before: string): ListPosition {
  const [at = '', id = ''] = before.split('/')
  return { at: instantArgument('--before', at), id }
}
