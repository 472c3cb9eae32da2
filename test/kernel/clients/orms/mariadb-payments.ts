// A server's write on MariaDB: its handler spends and writes a payment.
import { mariadbIdempotency } from '@gatewright/idempotency-store/mariadb'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { fromMysql2 } from '@gatewright/kernel/orms'
import { mariadbSpends } from '@gatewright/scope-guard/mariadb'
import type { Pool } from 'mysql2/promise'
import { response, write } from '../../../idempotency-store/support.ts'

export const PAYMENTS = 'create table payments (id varchar(64) primary key) engine = InnoDB'
export const ACCOUNT = 'acc_1'
const SPEND = { counter: 'day', unit: 'cents', cap: 1_000_000, amount: 6, expiresAt: null } as const

/** Makes the write. It resolves to the body of the response. */
export function payOn(pool: Pool): (key: string) => Promise<string> {
  const db = fromMysql2(pool)
  const { run } = createTransactionalIdempotency({ db, storage: mariadbIdempotency })
  return async key => {
    const result = await run(write({ key }), async (tx, { effectId, fence }) => {
      await tx.execute('insert into payments (id) values (?)', [effectId])
      await mariadbSpends(db.queries(tx)).reserve(ACCOUNT, effectId, [SPEND], 0)
      return response(201, JSON.stringify({ effectId, fence }))
    })
    if (!result.ok) throw new Error(result.code)
    return result.value.response.body
  }
}
