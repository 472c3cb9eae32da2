import { StreamedBody } from '@gatewright/http/internal'
import { allow, type Denial } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, operation, transactions } from '@gatewright/host'
import {
  createdRange,
  rangeOf,
  type NewestPage,
  type Place,
  type TransactionFilter,
} from '@gatewright/host/internal'
import { deny } from '../../product/denials.ts'
import { CSV_HEADER, csvLine } from './csv.ts'
import { filterOf, transactionFilters } from './filters.ts'

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 90
const MAX_DAYS = 366
/** How many transactions are read at once. */
const BATCH = 500
/** How many exports of one account a process runs at once. Each of them reads one batch at a time. */
const MAX_RUNNING = 2

const tooMany: Denial = {
  ok: false,
  code: 'rate_limited',
  status: 429,
  message: `${MAX_RUNNING} exports of this account are running: try again when one of them has ended`,
  retryAfterSeconds: 5,
}

/**
 * `GET /user/v1/transactions.csv`: exports transactions as a CSV file, newest first. The file is sent while it is read, one batch after
 * the other, and no query or connection waits while the client does not read. Transactions that are made meanwhile are not in it.
 */
export function exportTransactions({
  clock,
  db,
  report,
}: Pick<HostServices, 'clock' | 'db' | 'report'>): Operation {
  const running = new Map<string, number>()
  const count = (accountId: string, change: 1 | -1): void => {
    const left = (running.get(accountId) ?? 0) + change
    if (left === 0) running.delete(accountId)
    else running.set(accountId, left)
  }

  async function* lines(
    accountId: string,
    range: Pick<NewestPage, 'from' | 'to'>,
    filter: TransactionFilter,
  ): AsyncGenerator<string> {
    count(accountId, 1)
    try {
      yield CSV_HEADER
      let after: Place | undefined
      do {
        const page = await transactions.page(db, accountId, { ...range, after, limit: BATCH }, filter)
        if (page.rows.length > 0) yield page.rows.map(csvLine).join('')
        after = page.next
      } while (after)
    } catch (error) {
      report(error)
      throw error
    } finally {
      count(accountId, -1)
    }
  }

  return operation({
    id: 'transactions.export',
    title: 'Export transactions as CSV',
    surface: 'user',
    method: 'GET',
    paths: ['/user/v1/transactions.csv'],
    credential: 'session',
    scopes: ['transactions.read'],
    // A filter that is misspelt must not export everything.
    unknownMembers: 'deny',
    query: Type.Object({ ...createdRange, ...transactionFilters }),
    response: Type.Object({}),
    // The API description has no example for a text document.
    example: { response: {} },
    document: true,
    mediaType: 'text/csv',
    async handle({ caller, query }) {
      const { accountId } = caller.session
      const range = rangeOf(query)
      if (!range.ok) return range
      const { to = clock.now() + 1 } = range.value
      const { from = Math.max(0, to - DEFAULT_DAYS * DAY_MS) } = range.value
      if (to - from > MAX_DAYS * DAY_MS)
        return deny('invalid_request', `from must be at most ${MAX_DAYS} days before to`, { field: 'from' })
      if ((running.get(accountId) ?? 0) >= MAX_RUNNING) return tooMany
      return allow({
        document: new StreamedBody(lines(accountId, { from, to }, filterOf(query))),
        headers: [
          ['Content-Type', 'text/csv; charset=utf-8; header=present'],
          ['Content-Disposition', 'attachment; filename="transactions.csv"'],
        ],
      })
    },
  })
}
