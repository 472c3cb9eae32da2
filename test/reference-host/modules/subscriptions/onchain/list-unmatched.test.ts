import { rows } from '@gatewright/kernel/sql'
import t from 'tap'
import { listUnmatched } from '#packages/reference-host/dist/modules/subscriptions/onchain/unmatched-transfer-store.js'
import { openMoney } from '../../../harness/money-operations.ts'

for (const dialect of ['sqlite', 'postgres'] as const)
  t.test(
    `lists the newest unmatched transfers that are open and have settled nothing, on ${dialect}`,
    async t => {
      const { db } = await openMoney(t, {}, dialect)
      const hashOf = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`
      const isHandled = (n: number): boolean => n % 5 === 0
      const isSettled = (n: number): boolean => n % 2 === 0 || (n >= 20 && n < 30)
      for (let n = 1; n <= 40; n++) {
        await rows(
          db,
          `insert into gw_unmatched_transfers (chain_id, tx_hash, log_index, block_number, token, sender, receiver, units,
           mined_at, reason, found_at, handled_at) values (10, $1, 0, 1, '0xt', '0xs', '0xr', '5', 1, 'wrong_amount', 1, $2)`,
          [hashOf(n), isHandled(n) ? 2 : null],
        )
        // A transfer of the same transaction, or one that confirms, has settled nothing.
        await rows(
          db,
          `insert into gw_payin_transfers (chain_id, tx_hash, log_index, block_number, block_hash, account_id, payin_id, settled)
           values (10, $1, 1, 1, '0xb', 'a', 'p', 1), (11, $1, 0, 1, '0xb', 'a', 'p', 1), (10, $1, 0, 1, '0xb', 'a', 'p', $2)`,
          [hashOf(n), isSettled(n) ? 1 : 0],
        )
      }
      const open = Array.from({ length: 40 }, (_, index) => 40 - index)
        .filter(n => !isHandled(n) && !isSettled(n))
        .map(n => `10:${hashOf(n)}:0`)
      for (const limit of [1, 2, 3, 5, 11, 12, 40])
        t.same(
          (await listUnmatched(db, limit)).map(({ reference }) => reference),
          open.slice(0, limit),
          `${limit} at most`,
        )
      const [first] = await listUnmatched(db, 1)
      t.same(Object.keys(first ?? {}).sort(), [
        'accountId',
        'chainId',
        'minedAt',
        'payinId',
        'reason',
        'receiver',
        'reference',
        'sender',
        'token',
        'units',
      ])
    },
  )
