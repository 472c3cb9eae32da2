import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { PayinReceiver } from '../../../chain/receivers.ts'

/**
 * Makes the configured deposit addresses available, and removes those that are not configured and were never used. An address
 * that served a pay-in is never used again. Several hosts may call it simultaneously; they must have the same configuration.
 */
export async function syncDepositAddresses(
  db: SqlClient,
  receivers: readonly PayinReceiver[],
): Promise<void> {
  const addressKey = (chainId: number, address: string): string => `${chainId}:${address}`
  const entries = receivers.flatMap(({ chainId, token, depositAddresses }) =>
    depositAddresses.map(address => ({ chainId, address, token })),
  )
  const configured = new Set(entries.map(({ chainId, address }) => addressKey(chainId, address)))
  await db.transaction(async tx => {
    for (const { chainId, address, token } of entries) {
      // An address that has served a pay-in on one chain is not added on another.
      const add = `insert into gw_deposit_addresses as a (chain_id, address, token)
        select cast($1 as bigint), $2, $3 where not exists (select 1 from gw_deposit_addresses
          where address = $2 and (payin_id is not null or xpub is not null))
        on conflict (chain_id, address) do update set token = excluded.token where a.payin_id is null`
      await rows(tx, add, [chainId, address, token])
    }
    for (const row of await rows(
      tx,
      'select chain_id, address from gw_deposit_addresses where payin_id is null and xpub is null',
    )) {
      const [chainId, address] = [toInteger(row['chain_id']), toText(row['address'])]
      if (configured.has(addressKey(chainId, address))) continue
      const withdraw =
        'delete from gw_deposit_addresses where chain_id = $1 and address = $2 and payin_id is null and xpub is null'
      await rows(tx, withdraw, [chainId, address])
    }
  })
}
