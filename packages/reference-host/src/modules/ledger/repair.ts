import type { SqlClient } from '@gatewright/kernel/sql'
import type { EpochMs } from '@gatewright/kernel'
import { transactions, type HostServices } from '@gatewright/host'
import { accountsThatDiffer, money, operatorActions, reportElapsed } from '@gatewright/host/internal'
import { type BalanceLeg, type MissingTransaction, findTransactionGaps } from './missing-transactions.ts'
import { CommandError, type Command } from '@gatewright/host/cli'
import { heldMoney } from '../../product/held-money.ts'
import { shownTransfers } from './shown-transfers.ts'

/** What is missing in the transactions of all accounts whose balance differs from them, at most 100. */
interface RepairPlan {
  readonly missing: readonly MissingTransaction[]
  readonly unknown: readonly BalanceLeg[]
}

/** How many of the transactions and transfers a text names. */
const NAMED = 20

/** Finds the transactions that are missing on accounts whose balance differs from them. */
export async function planRepair(db: SqlClient): Promise<RepairPlan> {
  const missing: MissingTransaction[] = []
  const unknown: BalanceLeg[] = []
  for (const { account } of await accountsThatDiffer(db, heldMoney)) {
    if (!account.startsWith('user:')) continue
    const gaps = await findTransactionGaps(db, account.slice('user:'.length), shownTransfers)
    missing.push(...gaps.missing)
    unknown.push(...gaps.unknown)
  }
  return { missing, unknown }
}

/** Says in one line each what is missing, and what cannot be repaired; at most 20 lines of each. */
export function describePlan({ missing, unknown }: RepairPlan): readonly string[] {
  return [
    ...firstOf(missing.map(describeMissing), 'missing transactions'),
    ...firstOf(unknown.map(describeUnknown), 'transfers without a transaction'),
  ]
}

function firstOf(lines: readonly string[], what: string): readonly string[] {
  const more = lines.length - NAMED
  return more > 0 ? [...lines.slice(0, NAMED), `and ${more} more ${what}`] : lines
}

const describeMissing = (missing: MissingTransaction): string =>
  `${missing.entry.accountId} has no transaction for ${describeEntry(missing)}`

function describeEntry({ entry, createdAt }: MissingTransaction): string {
  const { source, status, amountCents, direction } = entry
  return `${source.kind} ${source.id}${partOf(source.part)}: ${direction} of ${money(amountCents)}, ${status}, of ${iso(createdAt)}`
}

function describeUnknown({ accountId, transferId, amountCents, createdAt }: BalanceLeg): string {
  const direction = amountCents < 0 ? 'debit' : 'credit'
  return `${accountId} has no transaction for transfer ${transferId}, a ${direction} of ${money(Math.abs(amountCents))} of ${iso(createdAt)}: it cannot be made from what is stored`
}

const partOf = (part = ''): string => (part === '' ? '' : ` (${part})`)
const iso = (at: EpochMs): string => new Date(at).toISOString()

/**
 * Writes missing transactions, each with the record of the operator's action in one database transaction. One that was written
 * meanwhile is left as it is. Returns how many were written.
 */
async function writeMissing(
  db: SqlClient,
  missing: readonly MissingTransaction[],
  now: EpochMs,
): Promise<number> {
  let written = 0
  for (const each of missing) {
    const { entry, createdAt } = each
    const added = await db.transaction(async tx => {
      if (!(await transactions.add(tx, entry, createdAt))) return false
      const detail = `wrote the transaction of ${describeEntry(each)}`
      await operatorActions.record(tx, {
        at: now,
        command: 'ledger repair',
        accountId: entry.accountId,
        detail,
      })
      return true
    })
    if (added) written += 1
  }
  return written
}

/** The command that writes transactions that are missing. */
export const repairCommand: Command<Pick<HostServices, 'db' | 'clock' | 'progress'>> = {
  name: 'ledger repair',
  takes: [],
  flags: { plan: 'only print what would be written' },
  summary:
    'Write transactions that are missing although their transfers were booked, for 100 accounts at a time',
  example: '--plan',
  confirm: 'Accounts see the transactions at once. No balance changes.',
  needsConfirmation: ({ flags }) => !flags.has('plan'),
  async subject(services) {
    const { missing } = await plan(services)
    if (missing.length === 0)
      throw new CommandError(
        'no transaction is missing: see npx gatewright ledger check',
        'nothing_to_repair',
      )
    const texts = describePlan({ missing, unknown: [] })
    return `${texts.join('\n')}\nWrite ${missing.length === 1 ? 'this transaction' : `these ${missing.length} transactions`}.`
  },
  async run(services, { flags }) {
    const found = await plan(services)
    const data = {
      missing: found.missing.map(({ entry, createdAt }) => ({ ...entry, createdAt: iso(createdAt) })),
      unknown: found.unknown,
    }
    if (flags.has('plan')) {
      const lines = describePlan(found)
      return { data, lines: lines.length === 0 ? ['No transaction is missing.'] : lines }
    }
    const written = await writeMissing(services.db, found.missing, services.clock.now())
    const rest = describePlan({ missing: [], unknown: found.unknown })
    return {
      data: { written, unknown: found.unknown },
      lines: [`Written: ${written}. Now run npx gatewright ledger check.`, ...rest],
    }
  },
}

const plan = (services: Pick<HostServices, 'db' | 'progress'>): Promise<RepairPlan> =>
  reportElapsed(services, 'Comparing transfers with transactions', planRepair(services.db))
