import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import type { BalanceLeg, ShownTransfers } from './missing-transactions.ts'
import type { TransactionEntry } from '@gatewright/host'
import { systemAccounts } from '../../product/system-accounts.ts'
import { bills, billWords } from '../bills/store.ts'
import { entryOf as authorizationEntry } from '../cards/authorizations/endings.ts'
import { incrementTable } from '../cards/authorizations/increment-store.ts'
import { authorizationTable, type Authorization } from '../cards/authorizations/store.ts'
import { payins } from '../subscriptions/payins/payin-store.ts'
import { entryOf as withdrawalEntry, withdrawalTable } from '../withdrawals/withdrawal.ts'

type Source = TransactionEntry['source']

/** How the transfers of one cause are shown. */
interface ShownCause {
  source(db: SqlQueries, leg: BalanceLeg): Promise<Source | undefined> | Source | undefined
  entry(db: SqlQueries, leg: BalanceLeg, source: Source): Promise<TransactionEntry | undefined>
}

/** The members of a transaction that the transfer itself says: it has happened, in this amount and direction. */
const completed = ({ accountId, amountCents }: BalanceLeg, source: Source) =>
  ({
    accountId,
    source,
    status: 'completed',
    amountCents: Math.abs(amountCents),
    direction: amountCents < 0 ? 'debit' : 'credit',
  }) as const

const afterColon = (id: string): string => id.slice(id.indexOf(':') + 1)
const beforeColon = (id: string): string => id.split(':', 1)[0] as string

const SANDBOX_DEPOSIT: ShownCause = {
  source: (_, { transferId }) => ({ kind: 'deposit', id: `dep_${afterColon(transferId)}` }),
  entry: async (_, leg, source) => ({
    ...completed(leg, source),
    type: 'collateral',
    description: 'Play money',
  }),
}

const PROVIDER_DEPOSIT: ShownCause = {
  async source(db, { accountId, transferId, counterpart }) {
    const provider = counterpart.slice(systemAccounts.deposits('').length)
    // The transfer names the payment. Which deposit it paid is known only if the account has one.
    const text = 'select id from gw_deposits where account_id = $1 and provider = $2 limit 2'
    const [deposit, other] = await rows(db, text, [accountId, provider])
    if (!deposit || other) return undefined
    return {
      kind: 'deposit',
      id: toText(deposit['id']),
      part: transferId.slice(`deposit:${provider}:`.length),
    }
  },
  entry: async (_, leg, source) => ({
    ...completed(leg, source),
    type: 'collateral',
    description: 'Deposit',
  }),
}

/** A hold by card, an increment of it, and what of it came back. */
const CARD_PAYMENT: ShownCause = {
  async source(db, { accountId, transferId }) {
    const id = beforeColon(transferId)
    const increment = await incrementTable.find(db, accountId, id)
    return { kind: 'authorization', id: increment?.authorizationId ?? id }
  },
  async entry(db, { accountId }, { id }) {
    const row = await authorizationTable.find(db, accountId, id)
    return row && authorizationEntryOf(row)
  },
}

function authorizationEntryOf(row: Authorization): TransactionEntry | undefined {
  const { status, amountCents, heldCents, clearedCents } = row
  switch (status) {
    case 'authorized':
      return authorizationEntry(row, 'pending', heldCents + clearedCents)
    case 'cleared':
      return authorizationEntry(row, 'completed', clearedCents)
    case 'reversed':
      return authorizationEntry(row, 'reversed', amountCents)
    case 'declined':
      return undefined
  }
}

const CAUSES: Readonly<Record<string, ShownCause>> = {
  credit: {
    source: (_, { transferId }) => ({ kind: 'credit', id: afterColon(transferId) }),
    entry: async (_, leg, source) => ({
      ...completed(leg, source),
      type: 'collateral',
      description: 'Credit by the operator',
    }),
  },
  deposit: {
    source: (db, leg) => depositOf(leg).source(db, leg),
    entry: (db, leg, source) => depositOf(leg).entry(db, leg, source),
  },
  move: {
    source: (_, { transferId }) => ({ kind: 'move', id: `move_${afterColon(transferId)}` }),
    entry: async (_, leg, source) => ({
      ...completed(leg, source),
      type: 'collateral',
      description: leg.amountCents < 0 ? 'Set aside' : 'Taken back',
    }),
  },
  payment: {
    source: (_, { transferId, amountCents }) => ({
      kind: 'payment',
      id: transferId,
      part: amountCents < 0 ? 'sent' : 'received',
    }),
    async entry(db, leg, source) {
      const [other] = await rows(db, 'select wallet_address from gw_users where account_id = $1', [
        afterColon(leg.counterpart),
      ])
      if (typeof other?.['wallet_address'] !== 'string') return undefined
      return {
        ...completed(leg, source),
        type: 'payment',
        description: leg.amountCents < 0 ? 'Payment sent' : 'Payment received',
        counterparty: other['wallet_address'],
      }
    },
  },
  bill: {
    source: (_, { transferId }) => ({ kind: 'bill', id: transferId }),
    async entry(db, leg, source) {
      const bill = await bills.find(db, leg.accountId, source.id)
      return { ...completed(leg, source), type: 'payment', description: bill ? billWords(bill) : 'Bill' }
    },
  },
  payin: {
    source: (_, { transferId }) => ({ kind: 'payin', id: afterColon(transferId) }),
    async entry(db, leg, source) {
      const payin = await payins.find(db, leg.accountId, source.id)
      if (!payin) return undefined
      const what = leg.amountCents < 0 ? `Plan ${payin.planId ?? ''}`.trimEnd() : 'Payment into the balance'
      const description = payin.description === null ? what : `${what} · ${payin.description}`
      return { ...completed(leg, source), type: 'payment', description, keyId: payin.keyId }
    },
  },
  withdrawal: {
    source: (_, { transferId }) => ({ kind: 'withdrawal', id: beforeColon(transferId) }),
    async entry(db, { accountId }, { id }) {
      const row = await withdrawalTable.find(db, accountId, id)
      return row && withdrawalEntry(row, row.status === 'ready' ? 'pending' : row.status)
    },
  },
  card_authorization: CARD_PAYMENT,
  card_free: CARD_PAYMENT,
  card_refund: {
    source: (_, { transferId }) => ({
      kind: 'authorization',
      id: beforeColon(transferId),
      part: afterColon(transferId),
    }),
    async entry(db, leg, source) {
      const row = await authorizationTable.find(db, leg.accountId, source.id)
      if (!row) return undefined
      const refund = authorizationEntry(row, 'completed', leg.amountCents)
      return { ...refund, source, direction: 'credit', description: 'Card refund' }
    },
  },
}

const depositOf = ({ counterpart }: BalanceLeg): ShownCause =>
  counterpart === systemAccounts.sandbox ? SANDBOX_DEPOSIT : PROVIDER_DEPOSIT

/** How this product shows the transfers of a balance. What only the lost transaction said, such as a memo, stays lost. */
export const shownTransfers: ShownTransfers = {
  sourceOf: async (db, leg) => CAUSES[leg.cause]?.source(db, leg),
  entryOf: async (db, leg, source) => CAUSES[leg.cause]?.entry(db, leg, source),
}
