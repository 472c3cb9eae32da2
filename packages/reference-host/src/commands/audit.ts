import type { AuditEntry, AuditPosition } from '@gatewright/session-issuer'
import {
  type Command,
  UsageError,
  instantArgument,
  integerArgument,
  reportElapsed,
} from '@gatewright/host/cli'
import { accountOf } from './find-account.ts'
import type { Services } from '../services/services.ts'

const MAX_ROWS = 1000

/** Commands on the audit log of keys, policies and sessions. */
export const auditCommands: readonly Command<Services>[] = [
  {
    name: 'audit list',
    takes: [],
    options: {
      account: 'the account, user or partner id; required',
      limit: `how many rows, 1 to ${MAX_ROWS}; default 100`,
      before: 'only rows from before this instant (RFC 3339), or AT/ID: from after this row',
    },
    summary: 'List the changes of keys, policies and sessions of one account, newest first',
    example: '--account acc_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52 --limit 20',
    async run(context, { options }) {
      const { account, limit = '100', before } = options
      if (account === undefined) throw new UsageError('audit list needs --account')
      const count = integerArgument('--limit', limit, 1, MAX_ROWS)
      const position = before === undefined ? undefined : positionOf(before)
      const accountId = await accountOf(context.backend.sql, account)
      const read = context.issuer.listAudit(accountId, count, position)
      const entries = await reportElapsed(context, 'Reading the audit log', read)
      const data = entries.map(({ at, expiresAt, ...entry }) => ({
        at: new Date(at).toISOString(),
        keptUntil: new Date(expiresAt).toISOString(),
        ...entry,
      }))
      const rows = data.map(({ at, by, keyId, sessionId, action, target }) => [
        at,
        by,
        keyId ?? '-',
        sessionId ?? '-',
        action,
        target,
      ])
      const table = [['AT', 'BY', 'KEY', 'SESSION', 'ACTION', 'TARGET'], ...rows]
      return { data, table, empty: 'No rows.', ...nextPage(entries, count) }
    },
  },
]

function positionOf(before: string): AuditPosition {
  const [at = '', id = ''] = before.split('/')
  return { at: instantArgument('--before', at), id }
}

/** Returns the note about how to print the next rows, after a full page. */
function nextPage(entries: readonly AuditEntry[], count: number): { readonly note?: string } {
  const last = entries.at(-1)
  if (!last || entries.length < count) return {}
  return { note: `For the next page: --before ${new Date(last.at).toISOString()}/${last.id}` }
}
