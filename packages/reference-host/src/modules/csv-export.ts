import { StreamedBody } from '@gatewright/http/internal'
import { allow, type Denial, type EpochMs } from '@gatewright/kernel'
import type { Access } from '@gatewright/scope-guard'
import * as Type from 'typebox/type'
import type { Static, TObject, TProperties } from 'typebox/type'
import { type HostServices, type Operation, operation, type NewestPage, type Place } from '@gatewright/host'
import { createdRange, rangeOf } from '@gatewright/host/internal'
import { deny } from '../product/denials.ts'
import { csvHeader, csvLine, type CsvColumns } from './csv.ts'

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 90
const MAX_DAYS = 366
/** How many items are read at once. */
const BATCH = 500
/** How many exports of one kind and account a process runs at once. Each of them reads one batch at a time. */
const MAX_RUNNING = 2

const tooMany: Denial = {
  ok: false,
  code: 'rate_limited',
  status: 429,
  message: `${MAX_RUNNING} exports of this account are running: try again when one of them has ended`,
  retryAfterSeconds: 5,
}

/** The items that one read of an export gets: those after the place `after` of the list, created in a range. */
interface ExportPage<P> extends Pick<NewestPage, 'limit'> {
  readonly from: EpochMs
  readonly to: EpochMs
  readonly after: P | undefined
}

/** What differs between the exports of lists. `P`: a place in the list. */
interface CsvExport<F extends TProperties, T, P> {
  readonly id: string
  readonly title: string
  readonly path: `/user/v1/${string}.csv`
  readonly scopes: readonly string[]
  /** The query parameters that choose items, those of the list. */
  readonly filters: F
  readonly columns: CsvColumns<T>
  /** Reads a page, newest first. */
  page(
    accountId: string,
    page: ExportPage<P>,
    query: Static<TObject<F>>,
    caller: Access,
  ): Promise<{ readonly rows: readonly T[]; readonly next: P | undefined }>
}

/**
 * Makes an operation that exports a list of the account as a CSV file, newest first. The file is sent while it is read, one batch after
 * the other, and no query or connection waits while the client does not read. Items that are made meanwhile are not in it.
 */
export function csvExport<F extends TProperties, T, P = Place>(
  { clock, report }: Pick<HostServices, 'clock' | 'report'>,
  { id, title, path, scopes, filters, columns, page }: CsvExport<F, T, P>,
): Operation {
  const running = runningExports()

  async function* lines(
    range: Pick<ExportPage<P>, 'from' | 'to'>,
    query: Static<TObject<F>>,
    caller: Access,
  ): AsyncGenerator<string> {
    const { accountId } = caller.session
    try {
      yield csvHeader(columns)
      let after: P | undefined
      do {
        const batch = await page(accountId, { ...range, after, limit: BATCH }, query, caller)
        // Also the empty text of a batch without matches: only between two chunks can the file of a client that has gone end.
        yield batch.rows.map(row => csvLine(columns, row)).join('')
        after = batch.next
      } while (after)
    } catch (error) {
      report(error)
      throw error
    }
  }

  return operation({
    id,
    title,
    surface: 'user',
    method: 'GET',
    paths: [path],
    credential: 'session',
    scopes,
    query: Type.Object({ ...createdRange, ...filters }),
    response: Type.Object({}),
    // The API description has no example for a text document.
    example: { response: {} },
    document: true,
    mediaType: 'text/csv',
    async handle({ caller, query }) {
      const { accountId } = caller.session
      const range = rangeOf(query as Static<TObject<typeof createdRange>>)
      if (!range.ok) return range
      const { to = clock.now() + 1 } = range.value
      const { from = Math.max(0, to - DEFAULT_DAYS * DAY_MS) } = range.value
      if (to - from > MAX_DAYS * DAY_MS)
        return deny('invalid_request', `from must be at most ${MAX_DAYS} days before to`, { field: 'from' })
      if (running.of(accountId) >= MAX_RUNNING) return tooMany
      const name = path.slice(path.lastIndexOf('/') + 1)
      return allow({
        document: new StreamedBody(running.counted(accountId, lines({ from, to }, query as never, caller))),
        headers: [
          ['Content-Type', 'text/csv; charset=utf-8; header=present'],
          ['Content-Disposition', `attachment; filename="${name}"`],
        ],
      })
    },
  })
}

/** The exports of one kind that run in this process, by account. */
interface RunningExports {
  /** How many exports of an account run. */
  of(accountId: string): number
  /** Counts an export from now on until its file ends, however it ends, so that exports that are requested at once count each other. */
  counted(accountId: string, file: AsyncGenerator<string>): AsyncIterable<string>
}

function runningExports(): RunningExports {
  const running = new Map<string, number>()
  const count = (accountId: string, change: 1 | -1): void => {
    const left = (running.get(accountId) ?? 0) + change
    if (left === 0) running.delete(accountId)
    else running.set(accountId, left)
  }
  return {
    of: accountId => running.get(accountId) ?? 0,
    counted(accountId, file) {
      let isRunning = true
      const end = (): void => {
        if (isRunning) count(accountId, -1)
        isRunning = false
      }
      count(accountId, 1)
      const iterator: AsyncIterator<string> = {
        async next() {
          const result = await file.next().catch((error: unknown) => {
            end()
            throw error
          })
          if (result.done) end()
          return result
        },
        return: () => file.return(undefined).finally(end),
      }
      return { [Symbol.asyncIterator]: () => iterator }
    },
  }
}
