import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { OperatorWarning } from '@gatewright/host/internal'
import type { PayinReceiver } from '../../../chain/receivers.ts'
import { branchOfXpub } from '../../../chain/xpub.ts'
import type { ProductMetrics } from '../../../product/metrics.ts'
import { CLIENT_RETENTION_MS } from './allocate-address.ts'

/** A list causes a warning if at most this part of its addresses is free. */
const LOW_PART = 1 / 10
/** From how many rows one round deletes the client at most. */
const LIMIT = 1000

/**
 * Measures how many deposit addresses are free, and warns each time that at most a tenth are free and the number has fallen.
 * Also deletes the client of an address as soon as no limit counts the address.
 */
export function addressSupply(
  db: SqlClient,
  receivers: readonly PayinReceiver[],
  metrics: Pick<ProductMetrics, 'freeAddresses' | 'nextIndex'>,
  report: (error: unknown) => void,
): (now: EpochMs) => Promise<void> {
  const branches = [...new Set(receivers.flatMap(({ xpub }) => xpub ?? []))].map(branchOfXpub)
  const warnedAt = new Map<PayinReceiver, number>()

  async function measureList(receiver: PayinReceiver): Promise<void> {
    const { chainId, token, asset, depositAddresses } = receiver
    const text = `select count(*) as free from gw_deposit_addresses
      where chain_id = $1 and token = $2 and payin_id is null and xpub is null`
    const [row] = await rows(db, text, [chainId, token])
    const free = toInteger(row?.['free'])
    metrics.freeAddresses(chainId, asset, free)
    const isLow = free <= depositAddresses.length * LOW_PART
    if (isLow && free < (warnedAt.get(receiver) ?? Infinity)) {
      const level = `${free} of ${depositAddresses.length} deposit addresses of ${asset} on chain ${chainId} are free`
      report(new OperatorWarning(`${level}: add more to PAYIN_RECEIVERS, or give an xpub in their place`))
    }
    warnedAt.set(receiver, isLow ? free : Infinity)
  }

  return async now => {
    for (const receiver of receivers) {
      if (receiver.depositAddresses.length > 0) await measureList(receiver)
    }
    for (const { id } of branches) {
      const [row] = await rows(db, 'select next_index from gw_deposit_sources where id = $1', [id])
      metrics.nextIndex(id, row ? toInteger(row['next_index']) : 0)
    }
    const forget = `update gw_deposit_addresses set client_class = null where (chain_id, address) in (
        select chain_id, address from gw_deposit_addresses where client_class is not null and given_at < $1
        order by given_at limit $2)`
    await rows(db, forget, [now - CLIENT_RETENTION_MS, LIMIT])
  }
}
