import { GRACE_MS, keyDigest, malformedReply, type EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { lockName, takesDue, toInteger, toText, upsert } from '@gatewright/kernel/internal/sql'
import type { Approval, ApprovalStorage } from './approvals-port.ts'
import { approvalOf, decidedText, requestText } from './approvals-text.ts'

const COLUMNS = 'id, request, state, requested_at, expires_at, decided_by, decided_at'
const UNDECIDED_OR_UNUSED = `state in ('pending', 'approved')`
const IS_OPEN = `${UNDECIDED_OR_UNUSED} and expires_at > `

/**
 * Stores approvals by plain statements. `open` is one transaction, which locks the approvals of the account; the others are one or two
 * statements. All of them run in the `tx` that is given (an object without `transaction`), with the business rows.
 */
export function sqlApprovals(db: SqlClient | SqlQueries, prefix: string): ApprovalStorage {
  const table = `${prefix}approvals`
  const find = async (
    on: SqlQueries,
    account: string,
    id: string,
    now: EpochMs,
  ): Promise<Approval | undefined> => {
    const found = await rows(
      on,
      `select ${COLUMNS} from ${table} where account = $1 and id = $2 and expires_at > $3`,
      [account, id, now],
    )
    return found[0] && readRow(found[0])
  }
  const list = async (accountId: string, now: EpochMs): Promise<readonly Approval[]> => {
    const text = `select ${COLUMNS} from ${table} where account = $1 and ${IS_OPEN} $2 order by requested_at, id`
    return (await rows(db, text, [keyDigest(accountId), now])).map(readRow)
  }
  const { clause, proposed } = upsert(db, 'account, id')
  const replaced = [
    'key_id',
    'request',
    'state',
    'requested_at',
    'expires_at',
    'decided_by',
    'decided_at',
    'effect',
  ]
  const insert = `insert into ${table} (account, id, ${replaced.join(', ')})
    values ($1, $2, $3, $4, 'pending', $5, $6, null, null, null)
    ${clause} ${replaced.map(name => `${name} = ${proposed(name)}`).join(', ')}`
  const count = `select count(*) as open from ${table} where account = $1 and ${IS_OPEN} $2`

  return {
    open({ id, request, requestedAt, expiresAt }, most) {
      const account = keyDigest(request.accountId)
      const ask = async (tx: SqlQueries): Promise<Awaited<ReturnType<ApprovalStorage['open']>>> => {
        await lockName(tx, prefix, { kind: 'approvals', accountId: account })
        const known = await find(tx, account, id, requestedAt)
        if (known && known.state !== 'used') return { outcome: 'known', approval: known }
        const [counted] = await rows(tx, count, [account, requestedAt])
        if (toInteger(counted?.['open']) >= most) return { outcome: 'full' }
        const undecided = { state: 'pending', decidedBy: null, decidedAt: null } as const
        const values = [keyDigest(request.keyId), requestText(request), requestedAt, expiresAt]
        await rows(tx, `${insert} returning id`, [account, id, ...values])
        return { outcome: 'opened', approval: { id, request, requestedAt, expiresAt, ...undecided } }
      }
      return 'transaction' in db ? db.transaction(ask) : ask(db)
    },
    find: (accountId, id, now) => find(db, keyDigest(accountId), id, now),
    list,
    async decide(accountId, id, { state, by }, now) {
      const account = keyDigest(accountId)
      const text = `update ${table} set state = $3, decided_by = $4, decided_at = $5
        where account = $1 and id = $2 and state = 'pending' and expires_at > $5 returning ${COLUMNS}`
      const [decided] = await rows(db, text, [account, id, state, decidedText(by), now])
      if (decided) return { outcome: 'decided', approval: readRow(decided) }
      const approval = await find(db, account, id, now)
      return approval ? { outcome: 'already', approval } : { outcome: 'gone' }
    },
    async use(accountId, id, effectId, now) {
      const text = `update ${table} set state = 'used', effect = $3 where account = $1 and id = $2
        and expires_at > $4 and (state = 'approved' or state = 'used' and effect = $3) returning id`
      const used = await rows(db, text, [keyDigest(accountId), id, keyDigest(effectId), now])
      return used.length > 0
    },
    async withdraw(accountId, keyIds, now) {
      const text = `delete from ${table} where account = $1 and id = $2 and ${IS_OPEN} $3 returning ${COLUMNS}`
      const ended: Approval[] = []
      for (const { id, request } of await list(accountId, now)) {
        if (!keyIds.includes(request.keyId)) continue
        ended.push(...(await rows(db, text, [keyDigest(accountId), id, now])).map(readRow))
      }
      return ended
    },
    async expire(limit, now) {
      const due = `${UNDECIDED_OR_UNUSED} and expires_at <= $1`
      const taken = await takesDue(db, { table, key: 'account, id', due, order: 'expires_at', limit: '$2' })
      const text = `delete from ${table} where ${taken} returning ${COLUMNS}`
      return (await rows(db, text, [now, limit])).map(readRow)
    },
    async collect(limit, now) {
      const due = 'expires_at <= $1'
      const taken = await takesDue(db, { table, key: 'account, id', due, order: 'expires_at', limit: '$2' })
      const deleted = await rows(db, `delete from ${table} where ${taken} returning 1 as deleted`, [
        now - GRACE_MS,
        limit,
      ])
      return deleted.length
    },
  }
}

/** Reads a row. Fault: `ERR_STORE_REPLY`. */
function readRow(row: SqlRow): Approval {
  const { id, request, state, requested_at, expires_at, decided_by, decided_at } = row
  const approval = approvalOf({
    id: toText(id),
    request: toText(request),
    state: toText(state),
    requestedAt: toInteger(requested_at),
    expiresAt: toInteger(expires_at),
    decidedBy: decided_by === null ? null : toText(decided_by),
    decidedAt: decided_at === null ? null : toInteger(decided_at),
  })
  if (!approval) throw malformedReply('database', 'an approval')
  return approval
}
