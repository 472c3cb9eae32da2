import type { SqlClient } from '@gatewright/kernel/sql'
import { money as shownMoney, reportElapsed, checkLedger, ledgerAccounts } from '@gatewright/host/internal'
import { type CommandArguments, CommandError, UsageError, type Command } from '@gatewright/host/cli'
import { dollarsArgument, referenceArgument } from '../command-arguments.ts'
import type { HostServices, TransactionEntry } from '@gatewright/host'
import { systemAccounts } from '../../product/system-accounts.ts'
import { heldMoney } from '../../product/held-money.ts'
import { userAccountOf } from '../find-account.ts'
import { describePlan, planRepair, repairCommand } from './repair.ts'

type LedgerCommandServices = Pick<HostServices, 'backend' | 'clock' | 'db' | 'ledger' | 'money' | 'progress'>

/** The operator's accounts (`house:`) whose money can be paid out. */
const HOUSE = ['bills', 'fees', 'revenue'] as const

function isHouse(name: string): name is (typeof HOUSE)[number] {
  return HOUSE.some(each => each === name)
}

/** The most that one command books, in US cents. */
const MAX_CENTS = 999_999_999_999

function creditOf({ positional: [owner = '', amount = '', reference = ''] }: CommandArguments) {
  return {
    owner,
    amountCents: dollarsArgument('AMOUNT', amount, MAX_CENTS),
    reference: referenceArgument(reference),
  }
}

function remittanceOf({ positional: [from = '', amount = '', reference = ''] }: CommandArguments) {
  if (!isHouse(from))
    throw new UsageError(`FROM must be one of ${HOUSE.join(', ')}, got ${JSON.stringify(from)}`)
  return {
    from,
    amountCents: dollarsArgument('AMOUNT', amount, MAX_CENTS),
    reference: referenceArgument(reference),
  }
}

/** Commands on balances and the ledger. */
export const commands: readonly Command<LedgerCommandServices>[] = [
  {
    name: 'ledger credit',
    takes: ['ACCOUNT', 'AMOUNT', 'REFERENCE'],
    summary:
      'Credit a balance by hand. REFERENCE is yours, such as that of a bank transfer: the same one credits only once',
    confirm: 'No command takes credited money back.',
    example: 'usr_79db7a61096340598de4661d67683883 25.00 wire-2026-11-0042',
    check: creditOf,
    async subject({ backend }, args) {
      const { owner, amountCents } = creditOf(args)
      return `Credit ${shownMoney(amountCents)} to ${await userAccountOf(backend.sql, owner)}.`
    },
    async run({ backend, clock, ledger, money }, args) {
      const { owner, amountCents, reference } = creditOf(args)
      const accountId = await userAccountOf(backend.sql, owner)
      const credit = ledgerAccounts.user(accountId)
      const transfer = {
        id: `credit:${reference}`,
        isExternal: true,
        debit: systemAccounts.operator,
        credit,
        amountCents,
        cause: 'credit',
      }
      const entry: TransactionEntry = {
        accountId,
        type: 'collateral',
        status: 'completed',
        direction: 'credit',
        source: { kind: 'credit', id: reference },
        amountCents,
        description: 'Credit by the operator',
      }
      const result = await backend.sql.transaction(tx => money.move(tx, transfer, [entry], clock.now()))
      if (result === 'conflict')
        throw new CommandError(`${reference} was credited before, to another account or in another amount`)
      const balanceCents = await ledger.balance(backend.sql, credit)
      const outcome = result === 'done' ? 'Credited' : 'This reference was credited before; nothing moved'
      return {
        data: { accountId, amountCents, reference, credited: result === 'done', balanceCents },
        lines: [`${outcome}. ${accountId} has ${shownMoney(balanceCents)}.`],
      }
    },
  },
  {
    name: 'ledger remit',
    takes: ['FROM', 'AMOUNT', 'REFERENCE'],
    summary:
      'Record that money of the operator was paid out. FROM is what it belonged to: bills, fees or revenue',
    confirm: 'No command takes booked money back.',
    example: 'bills 42.00 wire-2026-11-0043',
    check: remittanceOf,
    async subject(_, args) {
      const { from, amountCents } = remittanceOf(args)
      return `Book that ${shownMoney(amountCents)} of ${from} were paid out.`
    },
    async run({ backend, clock, money, ledger }, args) {
      const { from, amountCents, reference } = remittanceOf(args)
      const debit = systemAccounts[from]
      const credit = systemAccounts.operator
      const transfer = {
        id: `remit:${reference}`,
        isExternal: true,
        accountId: '',
        debit,
        credit,
        amountCents,
        cause: 'remit',
      }
      const result = await backend.sql.transaction(tx => money.move(tx, transfer, [], clock.now()))
      const balanceCents = await ledger.balance(backend.sql, debit)
      if (result === 'insufficient') throw new CommandError(`${debit} has ${shownMoney(balanceCents)} only`)
      if (result === 'conflict')
        throw new CommandError(`${reference} was booked before, from another account or in another amount`)
      const outcome = result === 'done' ? 'Booked' : 'This reference was booked before; nothing moved'
      return {
        data: { account: debit, amountCents, reference, booked: result === 'done', balanceCents },
        lines: [`${outcome}. ${debit} has ${shownMoney(balanceCents)}.`],
      }
    },
  },
  {
    name: 'ledger balance',
    takes: ['ACCOUNT'],
    summary: 'Show the balance of an account or user id',
    example: 'usr_79db7a61096340598de4661d67683883',
    async run({ backend, ledger }, { positional: [owner = ''] }) {
      const accountId = await userAccountOf(backend.sql, owner)
      const balanceCents = await ledger.balance(backend.sql, ledgerAccounts.user(accountId))
      return { data: { accountId, balanceCents }, lines: [`${accountId} has ${shownMoney(balanceCents)}.`] }
    },
  },
  {
    name: 'ledger check',
    takes: [],
    // On SQLite it would keep the host from responding: the operator page checks in a process of its own.
    besideHost: false,
    summary: 'Recompute balances, and compare them with transactions, authorizations and withdrawals',
    flags: { full: 'Add up every transfer, not only those since the last check that found nothing wrong' },
    example: '--full',
    async run(context, { flags }) {
      const { sql } = context.backend
      const full = flags.has('full') || sql.dialect === 'sqlite'
      context.progress(
        `Adding up ${full ? 'every transfer of the ledger' : 'the transfers since the last check'}.`,
      )
      const check = checkLedger(sql, heldMoney, { full })
      const { report, problems } = await reportElapsed(context, 'Adding up the ledger', check)
      if (problems.length > 0) throw new CommandError(await brokenText(sql, problems))
      const { transfers, added } = report
      const since = added === transfers ? '' : ` (${added} since the last check)`
      return { data: report, lines: [`Balanced: ${transfers} transfers checked${since}, no differences.`] }
    },
  },
  repairCommand,
]

/** Says what is wrong and, on lines of their own, which transactions are missing. */
async function brokenText(db: SqlClient, problems: readonly string[]): Promise<string> {
  const repair = await planRepair(db)
  const hint =
    repair.missing.length > 0 ? ['Write missing transactions with npx gatewright ledger repair --plan'] : []
  return [`the ledger is broken: ${problems.join('; ')}`, ...describePlan(repair), ...hint].join('\n')
}
