import type { HostServices, Restore, RestoreFindings } from '@gatewright/host'
import { money } from '@gatewright/host/internal'
import { compareWithProvider } from '../../providers/changes.ts'
import type { Providers } from '../../providers/ports.ts'
import type { WithdrawalRecords } from './records.ts'

/** What the comparison works with. */
interface RestoredServices extends Pick<HostServices, 'db' | 'clock'> {
  readonly providers: Providers
  readonly withdrawals: WithdrawalRecords
}

/**
 * Applies what the provider reports of withdrawals that are known here, and names those that it received and the restored database has
 * lost: their money is in the balance again.
 */
export function withdrawalsRestored(
  { db, clock, providers, withdrawals }: RestoredServices,
  restore: Restore,
): Promise<RestoreFindings> {
  return compareWithProvider('withdrawals', providers.withdrawals, restore, async (change, provider) => {
    const { id, payoutCents, ...report } = change
    const outcome = await db.transaction(tx =>
      withdrawals.report(tx, provider, { id, ...report }, clock.now()),
    )
    if (outcome === 'applied') return 'applied'
    // A failed one paid nothing out.
    if (outcome !== 'unknown' || report.status === 'failed') return undefined
    return {
      difference: `withdrawal ${id}: provider ${provider} pays out ${money(payoutCents)} (${report.status}), and this database does not know it: the money is in the balance of an account again`,
    }
  })
}
