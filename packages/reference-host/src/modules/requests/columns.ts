import type { RecordedRequest } from '@gatewright/host/internal'
import { csvInstant, csvInteger, type CsvColumns } from '../csv.ts'
import { requestedCents } from './decide-again.ts'
import { titleOf, type OperationTitles } from './fields.ts'

/** The columns of an export. `requested_cents` is empty where no cap was asked about an amount. */
export function requestColumns(titles: OperationTitles): CsvColumns<RecordedRequest> {
  return {
    id: ({ id }) => id,
    created_at: ({ at }) => csvInstant(at),
    method: ({ method }) => method,
    operation: ({ operation }) => operation,
    title: ({ operation }) => titleOf(titles, operation),
    status: ({ status }) => csvInteger(status),
    error: ({ code }) => code,
    rule: ({ rule }) => rule,
    message: ({ message }) => message,
    field: ({ field }) => field,
    requested_cents: ({ details }) => {
      const cents = requestedCents(details)
      return cents === undefined ? null : csvInteger(cents)
    },
    key_id: ({ keyId }) => keyId,
    session_id: ({ sessionId }) => sessionId,
    duration_ms: ({ durationUs }) => ({ number: (durationUs / 1000).toFixed(3) }),
  }
}
