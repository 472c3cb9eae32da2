import type { EpochMs, Session } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { events, type RecordedEvent } from '@gatewright/host'

const KEPT = `select 1 from gw_events where account_id = $1 and subject_kind = 'card' and subject_id = $2
  and cause = 'revealed' and kept = 1 and detail like $3`

/**
 * Records that a session revealed a card. The first event of each key is kept as long as the card: the revocation of the key reads it. Lock
 * the card before.
 */
export async function recordReveal(
  tx: SqlQueries,
  session: Pick<Session, 'accountId' | 'keyId' | 'sessionId'>,
  cardId: string,
  now: EpochMs,
): Promise<void> {
  const { accountId, keyId } = session
  const earlier = await rows(tx, KEPT, [accountId, cardId, `key ${keyId}, %`])
  const subject = { kind: 'card', id: cardId }
  const detail = revealDetail(session)
  await events.record(tx, { accountId, subject, cause: 'revealed', detail, keep: earlier.length === 0 }, now)
}

/** Writes who revealed a card into the event of it. */
const revealDetail = ({ keyId, sessionId }: Pick<Session, 'keyId' | 'sessionId'>): string =>
  `key ${keyId}, session ${sessionId}`

/** Reads the id of the key that revealed a card; undefined for other events. */
export function revealedBy({ cause, detail }: Pick<RecordedEvent, 'cause' | 'detail'>): string | undefined {
  return cause === 'revealed' ? /^key (\S+), session /.exec(detail ?? '')?.[1] : undefined
}
