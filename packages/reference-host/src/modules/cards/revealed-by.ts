import type { Session } from '@gatewright/kernel'
import type { RecordedEvent } from '@gatewright/host'

/** Writes who revealed a card into the event of it. */
export const revealDetail = ({ keyId, sessionId }: Pick<Session, 'keyId' | 'sessionId'>): string =>
  `key ${keyId}, session ${sessionId}`

/** Reads the id of the key that revealed a card; undefined for other events. */
export function revealedBy({ cause, detail }: Pick<RecordedEvent, 'cause' | 'detail'>): string | undefined {
  return cause === 'revealed' ? /^key (\S+), session /.exec(detail ?? '')?.[1] : undefined
}
