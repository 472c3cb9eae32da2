import type { HostServices, Restore, RestoreFindings } from '@gatewright/host'
import { money } from '@gatewright/host/internal'
import { compareWithProvider } from '../../providers/changes.ts'
import type { Providers } from '../../providers/ports.ts'
import type { DepositRecords } from './records.ts'

/** What the comparison works with. */
interface RestoredServices extends Pick<HostServices, 'db' | 'clock'> {
  readonly providers: Providers
  readonly deposits: DepositRecords
}

/**
 * Credits payments to deposits that are known here, and names deposits that the provider has opened and the restored database has lost.
 */
export function depositsRestored(
  { db, clock, providers, deposits }: RestoredServices,
  restore: Restore,
): Promise<RestoreFindings> {
  return compareWithProvider('deposits', providers.deposits, restore, async (change, provider) => {
    const outcome = await db.transaction(tx => deposits.report(tx, provider, change, clock.now()))
    if (outcome === 'applied') return 'applied'
    const { id, status, payments } = change
    if (outcome !== 'unknown' || (status === 'failed' && payments.length === 0)) return undefined
    const cents = payments.reduce((sum, { creditedCents }) => sum + creditedCents, 0)
    return {
      difference: `deposit ${id}: provider ${provider} has received ${money(cents)} for it (${status}), and this database does not know it: no account is credited`,
    }
  })
}
