// The records and the settlement of pay-ins, without a host around them.
import { keyDigest, type Verdict } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, type SqlDialect } from '@gatewright/kernel/internal/sql'
import { ledgerAccounts } from '@gatewright/host/internal'
import { systemAccounts } from '#packages/reference-host/dist/product/system-accounts.js'
import type { SpendHold } from '@gatewright/scope-guard'
import type { Test } from 'tap'
import * as internals from '../../../../harness/internals.ts'
import { openMoney, type MoneySetUp } from '../../../harness/money-operations.ts'
import { uniqueName } from '../../../../harness/stores.ts'

type Payins = typeof internals.payins
type NewPayin = Parameters<Payins['insert']>[2]
export type Payin = Awaited<ReturnType<Payins['insert']>>
/** A transfer on a chain. */
export const SEEN = { txHash: '0x1', logIndex: 2, blockNumber: 3, blockHash: '0x4' }
const TERMS = {
  userId: null,
  keyId: 'key_1',
  subscriptionId: null,
  planId: 'pro',
  amountCents: 100,
  payTo: null,
  properties: {},
  operation: 'subscriptions.payin',
  currency: 'USD',
  method: 'onchain',
} as const
/** Where a pay-in is paid on chain 10. */
export const PAY_TO = {
  chainId: 10,
  asset: 'USDC',
  token: '0xa',
  address: '0xb',
  units: 1_000_000n,
  payer: '0xc',
  ownReceiver: false,
}

export interface OpenPayins extends MoneySetUp {
  readonly settlement: ReturnType<typeof internals.payinSettlement>
  /** Makes a pay-in of 100 cents. */
  make(accountId: string, more?: Partial<NewPayin>, hold?: SpendHold): Promise<Payin>
  /** Spends 100 cents under a cap, or under none. */
  spend(tx: SqlQueries, accountId: string, policyId?: string): Promise<Verdict<SpendHold>>
  /** Holds 100 cents under a cap of its own, as whoever asks for a pay-in. */
  hold(accountId: string): Promise<SpendHold>
  /** What each counter of the account's caps says. */
  used(accountId: string): Promise<Readonly<Record<string, number>>>
  find(id: string): Promise<Payin | undefined>
  /** Locks a pay-in and does something with it. */
  locked<T>(id: string, act: (tx: SqlQueries, payin: Payin) => Promise<T>): Promise<T>
  /** The moves of a pay-in: from, to, cause, detail. */
  moves(id: string): Promise<readonly unknown[]>
  /** Spendable money, revenue and what came from chain 10. */
  sums(accountId: string): Promise<readonly number[]>
}

/** Opens a database with pay-ins. */
export async function openPayins(t: Test, dialect?: SqlDialect, connections = 1): Promise<OpenPayins> {
  const setUp = await openMoney(t, {}, dialect, connections)
  const { db, clock, services, balance } = setUp
  const { money, guard, spendStorage } = services
  const { payins } = internals
  const reserve = async (
    tx: SqlQueries,
    accountId: string,
    policyId: string | undefined,
    spend: { readonly holdId: string } | { readonly isSpent: true },
  ): Promise<Verdict<SpendHold>> => {
    const rule = { operation: 'subscriptions.payin', spends: 'spend', allOf: [] } as const
    const policies = policyId ? [{ id: policyId, document: { dailySpendCapCents: 1000 } }] : []
    const access = guard.checkPolicies(accountId, policies, rule)
    if (!access.ok) return access
    return guard.reserve(access.value, { amountCents: 100, currency: 'USD', ...spend }, spendStorage(tx))
  }
  const ownerOf = async (on: SqlQueries, id: string): Promise<string | undefined> => {
    const [row] = await rows(on, 'select account_id from gw_payins where id = $1', [id])
    return row && String(row['account_id'])
  }
  const settlement = internals.payinSettlement({ money, guard, spendStorage })
  return {
    ...setUp,
    settlement,
    async make(accountId, more = {}, hold = { held: false } as never) {
      const payin = { ...TERMS, accountId, ...more }
      return db.transaction(tx => payins.insert(tx, { effectId: uniqueName(), hold }, payin, clock.now()))
    },
    spend: (tx, accountId, policyId) => reserve(tx, accountId, policyId, { isSpent: true }),
    async hold(accountId) {
      const holdId = uniqueName()
      const held = await db.transaction(tx => reserve(tx, accountId, uniqueName(), { holdId }))
      if (!held.ok) throw new Error(held.message)
      return held.value
    },
    async used(accountId) {
      const text = 'select counter, used from gw_spend_counters where account = $1'
      const found = await rows(db, text, [keyDigest(accountId)])
      return Object.fromEntries(found.map(({ counter, used }) => [String(counter), toInteger(used)]))
    },
    find: async id => {
      const owner = await ownerOf(db, id)
      return owner === undefined ? undefined : payins.find(db, owner, id)
    },
    locked: (id, act) =>
      db.transaction(async tx => {
        const payin = await payins.lock(tx, (await ownerOf(tx, id)) ?? '', id)
        if (!payin) throw new Error(`no pay-in ${id}`)
        return act(tx, payin)
      }),
    moves: async id =>
      (await payins.history(db, (await ownerOf(db, id)) ?? '', id)).map(({ from, to, cause, detail }) => [
        from,
        to,
        cause,
        detail,
      ]),
    async sums(accountId) {
      const accounts = [
        ledgerAccounts.user(accountId),
        systemAccounts.revenue,
        systemAccounts.chain(10, PAY_TO.token),
      ]
      const all: number[] = []
      for (const account of accounts) all.push(await balance(account))
      return all
    },
  }
}
