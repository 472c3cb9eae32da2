import { postgresTransactionalIdempotency } from '@gatewright/idempotency-store/postgres'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import type { TeamOrm } from '../../harness/databases/orms.ts'
import { response, write } from '../support.ts'

/** Makes a server's write, whose handler writes a payment with an ORM. It resolves to the body of the response. */
export function payByOrm({ db, pay }: TeamOrm<never>): (key: string) => Promise<string> {
  const idempotency = createTransactionalIdempotency({ db, storage: postgresTransactionalIdempotency })
  return async key => {
    for (;;) {
      const result = await idempotency.run(write({ key }), async (tx, { effectId, fence }) => {
        await pay(tx, effectId)
        return response(201, JSON.stringify({ effectId, fence }))
      })
      if (result.ok) return result.value.response.body
      // The database may still hold the transaction of a process that was killed.
      if (result.code !== 'request_in_progress') throw new Error(result.code)
    }
  }
}
