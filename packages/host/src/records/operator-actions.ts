import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import { newId } from './new-id.ts'

/** What an operator changed by a command, such as one that repairs data. It is kept for good. */
export interface OperatorAction {
  readonly at: EpochMs
  /** The command, such as `ledger repair`. */
  readonly command: string
  /** The account that it is about; '' for the whole host. */
  readonly accountId: string
  /** What was changed, in one line without personal data. */
  readonly detail: string
}

/** What operators have changed by commands and on their page. */
export const operatorActions = {
  /** Records an action in the transaction of its change. */
  async record(tx: SqlQueries, { at, command, accountId, detail }: OperatorAction): Promise<void> {
    const text =
      'insert into gw_operator_actions (id, at, command, account_id, detail) values ($1, $2, $3, $4, $5)'
    await rows(tx, text, [newId('act'), at, command, accountId, detail])
  },

  /** Lists actions, the newest first: all, or those on one account. */
  async list(db: SqlQueries, limit: number, accountId?: string): Promise<readonly OperatorAction[]> {
    const where = accountId === undefined ? '' : 'where account_id = $2'
    const text = `select at, command, account_id, detail from gw_operator_actions ${where} order by at desc, id limit $1`
    const values = accountId === undefined ? [limit] : [limit, accountId]
    return (await rows(db, text, values)).map(row => ({
      at: toInteger(row['at']),
      command: toText(row['command']),
      accountId: toText(row['account_id']),
      detail: toText(row['detail']),
    }))
  },
}
