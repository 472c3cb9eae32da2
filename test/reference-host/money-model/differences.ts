import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import type { HttpResponse } from '../../harness/host.ts'
import * as internals from '../../harness/internals.ts'
import type { Random } from '../harness/random.ts'
import { read, write, type Client } from './client.ts'
import { counted, excess, held, houseMoney, openHolds, putAside } from './model.ts'

/** What a client reads at the end that its model does not say. */
export async function differences(client: Client, random: Random): Promise<string[]> {
  const { model, name } = client
  const wrong = [...model.wrong]
  const expect = (what: string, is: unknown, must: unknown): void => {
    const [found, right] = [JSON.stringify(is), JSON.stringify(must)]
    if (found !== right) wrong.push(`${name}: ${what}: is ${found}, must be ${right}`)
  }
  const every = async (path: string, list: string): Promise<Record<string, unknown>[]> => {
    const items: Record<string, unknown>[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: HttpResponse = await read(client, `${path}?limit=100${cursor ? `&cursor=${cursor}` : ''}`)
      items.push(...(page.body.data[list] as Record<string, unknown>[]))
      cursor = page.body.data['nextCursor'] as string | null
    }
    return items
  }
  const [balance] = (await read(client, '/balances')).body.data['balances'] as Record<string, unknown>[]
  expect('the money', balance, {
    currency: 'USD',
    availableCents: model.available,
    pendingCents: held(model),
    contractsCents: putAside(model),
  })
  const contracts = await every('/contracts', 'contracts')
  // In no order: a client that sends several requests at a time does not know which contract was made first.
  const aside = contracts.map(({ id, balanceCents }) => JSON.stringify([id, balanceCents]))
  const wanted = [...model.contracts].map(contract => JSON.stringify(contract))
  expect('contracts', aside.toSorted(), wanted.toSorted())
  const cards = await every('/cards', 'cards')
  expect('cards', cards.map(({ id }) => String(id)).toSorted(), model.cards.map(({ id }) => id).toSorted())
  const found = (
    await Promise.all(model.cards.map(({ id }) => every(`/cards/${id}/authorizations`, 'authorizations')))
  ).flat()
  const lines = found
    .filter(each => each['status'] !== 'declined' && !isLate(client, each))
    .map(each => [
      each['id'],
      each['status'],
      each['amountCents'],
      each['clearedCents'],
      each['refundedCents'],
    ])
  const known = model.authorizations.map(each => [
    each.id,
    each.status,
    each.amountCents,
    each.clearedCents,
    each.refundedCents,
  ])
  expect('authorizations', lines.map(String).toSorted(), known.map(String).toSorted())
  const withdrawals = (await every('/withdrawals', 'withdrawals')).map(({ id, status, amountCents }) =>
    String([id, status === 'ready' ? 'open' : status, amountCents]),
  )
  const expected = model.withdrawals.map(({ id, status, amountCents }) => String([id, status, amountCents]))
  expect('withdrawals', withdrawals.toSorted(), expected.toSorted())
  const bills = (await every('/bills', 'bills')).map(({ id, status }) => String([id, status]))
  const noted = model.bills.map(({ id, paid }) => String([id, paid ? 'paid' : 'open']))
  expect('bills', bills.toSorted(), noted.toSorted())
  const to = { walletAddress: (client.others.find(other => other !== client) as Client).address }
  const probe = await write(client, random, '/payments', { to, amountCents: 100_000_000 })
  const { spendCap, spent } = model.caps
  expect('left under the cap', probe.body['remaining'], Math.max(0, spendCap - spent))
  return wrong
}

/** Whether an authorization was decided too late, and taken back. */
const isLate = (client: Client, { status, id }: Record<string, unknown>): boolean =>
  client.late.length > 0 &&
  status === 'reversed' &&
  !client.model.authorizations.some(known => known.id === id)

/** What the books say that they must not. */
export async function wrongInDatabase(
  db: SqlClient,
  dialect: 'postgres' | 'sqlite',
  clients: readonly Client[],
): Promise<readonly string[]> {
  const ledger = createLedger(db)
  const { sumCents, wrongAccounts, wrongTransfers } = await ledger.check()
  const found = [
    ...(sumCents === 0 ? [] : [`the ledger adds up to ${sumCents}`]),
    ...wrongAccounts,
    ...wrongTransfers,
    ...(await internals.accountsThatDiffer(db, internals.heldMoney)).map(each =>
      internals.describeDifference(each, internals.heldMoney),
    ),
  ]
  const models = clients.map(({ model }) => model)
  const sum = async (text: string): Promise<number> => toInteger((await rows(db, text))[0]?.['n'])
  const must = (what: string, is: number, right: number): void => {
    if (is !== right) found.push(`${what}: is ${is}, must be ${right}`)
  }
  const total = (of: (model: (typeof models)[0]) => number): number =>
    models.reduce((before, model) => before + of(model), 0)
  const used = 'select coalesce(sum(used), 0) as n from gw_spend_counters'
  must('counted under caps', await sum(used), total(counted))
  must('holds under caps', await sum('select count(*) as n from gw_spend_holds'), total(openHolds))
  const { fees, bills } = houseMoney(models)
  must('fees', await ledger.balance(db, 'house:fees'), fees)
  const { withdrawals, authorizations } = excess(models)
  const excessOf = (table: string): Promise<number> =>
    sum(`select coalesce(sum(excess_cents), 0) as n from ${table}`)
  must('excess of withdrawals', await excessOf('gw_withdrawals'), withdrawals)
  must('excess of authorizations', await excessOf('gw_authorizations'), authorizations)
  must('bills', await ledger.balance(db, 'house:bills'), bills)
  return found
}
