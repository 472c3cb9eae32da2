import type { EpochMs } from '@gatewright/kernel'
import { utf8Length } from '@gatewright/kernel/internal/platform'
import type { Settings } from '../options.ts'
import type { Ending } from '../storage/port.ts'
import { encodeResponse } from './encoding.ts'
import { areSpends, type Replay, type StoredResponse } from './stored-response.ts'

type RetentionSettings = Pick<Settings, 'storedHeaders' | 'maxResponseBytes'>

/**
 * Prepares a response for storage until `expiresAt`: the ending for the store, and the replay for duplicates in this
 * process. Throws a `TypeError` for malformed `spends`, because a response that cannot be decoded could never be replayed.
 */
export function retain(
  response: StoredResponse,
  expiresAt: EpochMs,
  settings: RetentionSettings,
): { readonly ending: Extract<Ending, { readonly state: 'done' }>; readonly replay: Replay } {
  const stored = toStored(response, settings)
  return {
    ending: { state: 'done', response: encodeResponse(stored), expiresAt },
    replay: { response: stored, expiresAt },
  }
}

function toStored(response: StoredResponse, settings: RetentionSettings): StoredResponse {
  const { spends } = response
  if (spends === undefined || spends.length === 0) return withoutSpends(response, settings)
  if (!areSpends(spends)) {
    throw new TypeError(
      'spends must be a list of { amountCents, currency, countsAs? } with amountCents of at least 0',
    )
  }
  const stored = spends.map(({ amountCents, currency, countsAs }) => ({
    amountCents,
    currency,
    ...(countsAs && countsAs.length > 0 ? { countsAs } : {}),
  }))
  return { spends: stored, ...withoutSpends(response, settings) }
}

function withoutSpends(
  { status, headers, body }: StoredResponse,
  { storedHeaders, maxResponseBytes }: RetentionSettings,
): StoredResponse {
  const kept = headers.filter(field => storedHeaders.has(field[0].toLowerCase()))
  return utf8Length(body) <= maxResponseBytes
    ? { status, headers: kept, body }
    : { status, headers: kept, body: '', bodyOmitted: true }
}
