// What card networks ask for, without a host around it.
import type { SqlClient } from '@gatewright/kernel/sql'
import { compileSchema, ledgerAccounts, type AppliedEvent } from '@gatewright/host/internal'
import { closed } from '#packages/host/dist/schemas/closed.js'
import { moneyIdOf } from '#packages/host/dist/http/provider-events/provider-event-types.js'
import type { Test } from 'tap'
import { NEW_CARD } from '../card-bench.ts'
import * as internals from '../../../../harness/internals.ts'
import { openMoney, type MoneySetUp } from '../../../harness/money-operations.ts'
import { uniqueName } from '../../../../harness/stores.ts'

/** What a card network is told. */
export interface Response {
  readonly outcome: string
  readonly decision: {
    readonly approved: boolean
    readonly authorizationId: string
    readonly declineReason: string | null
  }
}
type Events = ReturnType<typeof internals.authorizationEvents>
type Authorization = NonNullable<Awaited<ReturnType<typeof internals.authorizationTable.find>>>
type Increment = NonNullable<Awaited<ReturnType<typeof internals.anyIncrement.find>>>

export interface OpenNetwork extends MoneySetUp {
  /** The events of card networks, and those on another connection. */
  readonly all: Events
  eventsOn(client: SqlClient): Events
  /** Outcome and reason of each decision that was counted, and what was reported to the operator. */
  readonly counted: string[]
  readonly reported: unknown[]
  /** Makes a card of a new account with 1000 cents. */
  card(more?: object): Promise<{ readonly accountId: string; readonly cardId: string }>
  /** Asks for a decision, as a card network. */
  ask(
    event: 'request' | 'increment',
    data: object,
    by?: { readonly events?: Events; readonly provider?: string },
  ): Promise<Response>
  /** Reports what a merchant did. */
  tell(event: string, data: object, messageId?: string, provider?: string): Promise<string>
  rowOf(response: Response): Promise<Authorization>
  incrementsOf(authorizationId: string): Promise<readonly Increment[]>
  held(accountId: string): Promise<number>
  /** The history of an authorization: from, to, cause, cents and detail. */
  causes(accountId: string, id: string): Promise<readonly string[]>
}

/** The data of a request for 100 cents, under an id of its own. */
export function request(
  cardId: string,
  more: object = {},
): { readonly id: string } & Record<string, unknown> {
  const merchant = { name: 'Corner Shop', mcc: '5411', country: 'US' }
  return { id: uniqueName(), cardId, amountCents: 100, currency: 'USD', merchant, ...more }
}

/** The data of an increment of 50 cents, under an id of its own. */
export function increment(id: string, more: object = {}): Record<string, unknown> {
  return { id, incrementId: uniqueName(), amountCents: 50, currency: 'USD', ...more }
}

/** The response to a repeat of an id that was decided before. */
export function repeated(declineReason: string | null): object {
  return { outcome: 'repeated', decision: { approved: declineReason === null, declineReason } }
}

/** Opens a database with the events of card networks. */
export async function openNetwork(t: Test): Promise<OpenNetwork> {
  const setUp = await openMoney(t)
  const { db, clock, services, addAccount, balance, history } = setUp
  const { anyAuthorization, incrementTable, cards } = internals
  const { guard, ledger, money, spendStorage } = services
  const [counted, reported]: [string[], unknown[]] = [[], []]
  const count = (outcome: string, reason: string): void => void counted.push(`${outcome} ${reason}`)
  const authorizations = internals.authorizations({ guard, ledger, money, spendStorage, count })
  const report = (error: unknown): void => void reported.push(error)
  const cardKeyPolicies = { read: async () => [], keep: async () => {} }
  const eventsOn = (client: SqlClient): Events =>
    internals.authorizationEvents({ db: client, cardKeyPolicies, authorizations, report })
  const all = eventsOn(db)

  return {
    ...setUp,
    all,
    eventsOn,
    counted,
    reported,
    async card(more = {}) {
      const [accountId, id] = [await addAccount(1000), `card_${uniqueName()}`]
      await db.transaction(tx => cards.insert(tx, accountId, [{ ...NEW_CARD, ...more, id }], clock.now()))
      return { accountId, cardId: id }
    },
    async ask(event, data, { events = all, provider = 'sandbox' } = {}) {
      const { data: schema, decide } = events[`authorization.${event}`] as never as {
        data: Parameters<typeof closed>[0]
        decide(provider: string, data: unknown, now: number): Promise<Response>
      }
      const problem = compileSchema(closed(schema))(data)
      if (problem) throw new Error(problem.message)
      return decide(provider, data, clock.now())
    },
    tell(event, data, messageId = uniqueName(), provider = 'sandbox') {
      const type = all[`authorization.${event}`] as AppliedEvent
      const moneyId = moneyIdOf(type, data, messageId)
      return db.transaction(tx => type.apply(tx, data as never, { provider, now: clock.now(), moneyId }))
    },
    rowOf: async ({ decision }) => (await anyAuthorization.find(db, decision.authorizationId))!,
    incrementsOf: id => incrementTable.select(db, 'where authorization_id = $1 order by position', [id]),
    held: accountId => balance(ledgerAccounts.held(accountId, 'cards')),
    causes: async (accountId, id) =>
      (await history(accountId, 'authorization', id)).map(([from, to, cause, cents, detail]) =>
        [from, to, cause, cents, detail].join(' '),
      ),
  }
}
