import { rows, type SqlClient } from '@gatewright/kernel/sql'
import type { SqlDialect } from '@gatewright/kernel/internal/sql'
import type { ManualClock } from '@gatewright/kernel/testing'
import { ledgerAccounts } from '@gatewright/host/internal'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import { migrateLedger } from '#packages/host/dist/ledger/ledger.js'
import { systemAccounts } from '#packages/reference-host/dist/product/system-accounts.js'
import { createGuard, type PolicyDocument } from '@gatewright/scope-guard'
import { migrateSpends, postgresSpends } from '@gatewright/scope-guard/postgres'
import { migrateSpends as migrateSqlite, sqliteSpends } from '@gatewright/scope-guard/sqlite'
import { withAwaitedQueries } from '../../../harness/databases/awaited-queries.ts'
import * as internals from '../../../harness/internals.ts'

type Service = ReturnType<typeof internals.authorizations>
type Row = Awaited<ReturnType<Service['authorize']>>['row']
type Request = Parameters<Service['authorize']>[2]
type NewCard = Parameters<(typeof internals.cards)['insert']>[2][number]
/** An active card without limit or policies, but for its id. */
export const NEW_CARD = {
  last4: '4242',
  status: 'active',
  limit: null,
  expirationMonth: 12,
  expirationYear: 2099,
  encryptedName: null,
  encryptedColor: null,
  encryptedEmoji: null,
  encryptedMemo: null,
  folderId: null,
  disposable: false,
  autoCancelAfterAuth: false,
  issuer: 'sandbox',
  keyLineage: null,
  sessionPolicies: [],
} as const satisfies Omit<NewCard, 'id'>

/** What is counted against one card, and what happens to its payments, without a host. */
export interface CardBench {
  readonly db: SqlClient
  readonly service: Service
  readonly store: typeof internals.anyAuthorization
  readonly cards: typeof internals.cards
  /** The policies that each lineage of keys carries now. A lineage without an entry cannot be read. */
  readonly keys: Map<string, readonly PolicyDocument[]>
  /** Every decision that was counted. */
  readonly counted: string[]
  addAccount(accountId: string, balanceCents: number): Promise<void>
  addCard(accountId: string, card: Partial<NewCard> & { readonly id: string }): Promise<void>
  /** Asks for a payment, as an event or a simulation does. */
  pay(cardId: string, request: Partial<Request> & { readonly id: string }): Promise<Row>
  /** Asks for an increment of an authorization, as an event does. */
  raise(
    authorizationId: string,
    request: Omit<Parameters<Service['increment']>[3], 'attempt'>,
  ): ReturnType<Service['increment']>
  /** Locks an authorization and does something with it. */
  later(id: string, act: (tx: Parameters<Service['clear']>[0], row: Row) => Promise<Row>): Promise<Row>
  balance(accountId: string): Promise<number>
  /** What is wrong with the ledger, its accounts and the rows that they must agree with. */
  faults(): Promise<readonly string[]>
}

/** Creates the tables that a bench needs beside those of the host. */
export async function prepareCardBench(db: SqlClient, dialect: SqlDialect): Promise<void> {
  await migrateLedger(db)
  await (dialect === 'postgres' ? migrateSpends : migrateSqlite)(db)
}

/** Makes the services of card payments over a database. */
export function cardBench(client: SqlClient, dialect: SqlDialect, clock: ManualClock): CardBench {
  const db = withAwaitedQueries(client)
  const ledger = createLedger(db)
  const money = internals.createMoney(ledger)
  const { anyAuthorization: store, cards } = internals
  const keys: CardBench['keys'] = new Map()
  const counted: string[] = []
  const keyPolicies = { read: async ({ lineageId }: { lineageId: string }) => keys.get(lineageId) }
  const guard = createGuard({
    issuer: 'test',
    audience: 'test',
    keys: async () => undefined,
    clock,
    failedCredentials: 'off',
  })
  const service = internals.authorizations({
    guard,
    ledger,
    money,
    spendStorage: dialect === 'postgres' ? postgresSpends : sqliteSpends,
    count: (outcome, reason) => counted.push(reason || outcome),
  })
  const lock = async <T>(row: T | undefined): Promise<T> => {
    if (!row) throw new Error('no such row')
    return row
  }
  return {
    db,
    service,
    store,
    cards,
    keys,
    counted,
    async addAccount(accountId, amountCents) {
      await rows(
        db,
        `insert into gw_users (account_id, id, principal, kyc_status, created_at) values ($1, $2, $2, 'approved', $3)`,
        [accountId, `usr_${accountId}`, clock.now()],
      )
      if (amountCents === 0) return
      const credit = ledgerAccounts.user(accountId)
      const source = { kind: 'credit', id: accountId }
      const entry = { accountId, source, type: 'collateral', status: 'completed', amountCents } as const
      const transfer = { id: accountId, debit: systemAccounts.operator, credit, amountCents, cause: 'credit' }
      await db.transaction(tx =>
        money.move(tx, transfer, [{ ...entry, direction: 'credit', description: 'Start' }], clock.now()),
      )
    },
    async addCard(accountId, card) {
      const made: NewCard = { ...NEW_CARD, ...card }
      await db.transaction(tx => cards.insert(tx, accountId, [made], clock.now()))
    },
    async pay(cardId, request) {
      const policies = await internals.cardPolicies(
        keyPolicies,
        await lock(await cards.anyAccount.find(db, cardId)),
      )
      return db.transaction(async tx => {
        const card = await lock(await cards.anyAccount.lock(tx, cardId))
        const merchant = { name: 'Shop', mcc: '5734', city: null, country: 'US' }
        const full = { amountCents: 100, currency: 'USD', merchant, ...request }
        return (await service.authorize(tx, { card, policies, now: clock.now() }, full)).row
      })
    },
    async raise(authorizationId, request) {
      const { cardId } = await lock(await store.find(db, authorizationId))
      const policies = await internals.cardPolicies(
        keyPolicies,
        await lock(await cards.anyAccount.find(db, cardId)),
      )
      return db.transaction(async tx => {
        const card = await lock(await cards.anyAccount.lock(tx, cardId))
        const row = await lock(await store.lock(tx, authorizationId))
        return service.increment(tx, { card, policies, now: clock.now() }, row, {
          attempt: 'bench',
          ...request,
        })
      })
    },
    later: (id, act) => db.transaction(async tx => act(tx, await lock(await store.lock(tx, id)))),
    balance: accountId => ledger.balance(db, ledgerAccounts.user(accountId)),
    async faults() {
      const { sumCents, wrongAccounts, wrongTransfers } = await ledger.check()
      const differ = (await internals.accountsThatDiffer(db, internals.heldMoney)).map(each =>
        internals.describeDifference(each, internals.heldMoney),
      )
      return [...(sumCents === 0 ? [] : [`sum ${sumCents}`]), ...wrongAccounts, ...wrongTransfers, ...differ]
    },
  }
}
