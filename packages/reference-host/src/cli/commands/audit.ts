import { reportElapsed, UsageError, type Command } from '../command.ts'

const MOST_ROWS = 1000

/** Commands on the audit log of keys, policies and sessions. */
export const auditCommands: readonly Command[] = [
  {
    name: 'audit list',
    takes: [],
    options: {
      account: 'the account or partner id; required',
      limit: `how many rows, 1 to ${MOST_ROWS}; default 100`,
      before: 'only rows from before this instant, such as the last one listed; RFC 3339',
    },
    summary: 'List the changes of keys, policies and sessions of one account, newest first',
    example: '--account acc_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52 --limit 20',
    async run(context, { options }) {
      const { account, limit = '100', before } = options
      if (account === undefined) throw new UsageError('audit list needs --account')
      const count = /^\d{1,4}$/.test(limit) ? Number(limit) : 0
      if (count < 1 || count > MOST_ROWS) {
        throw new UsageError(
          `--limit must be an integer from 1 to ${MOST_ROWS}, got ${JSON.stringify(limit)}`,
        )
      }
      const until = before === undefined ? undefined : Date.parse(before)
      if (Number.isNaN(until))
        throw new UsageError(`--before must be an instant, got ${JSON.stringify(before)}`)
      const read = context.issuer.listAudit(account, count, until)
      const entries = await reportElapsed(context, 'Reading the audit log', read)
      const data = entries.map(({ at, expiresAt, ...entry }) => ({
        ...{ at: new Date(at).toISOString(), keptUntil: new Date(expiresAt).toISOString() },
        ...entry,
      }))
      const rows = data.map(({ at, by, keyId, sessionId, action, target }) => [
        ...[at, by, keyId ?? '-', sessionId ?? '-', action, target],
      ])
      return { data, table: [['AT', 'BY', 'KEY', 'SESSION', 'ACTION', 'TARGET'], ...rows] }
    },
  },
]
