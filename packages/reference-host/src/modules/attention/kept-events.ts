import type { Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import { keptEvents } from '@gatewright/host/internal'

/** The services with which an operator looks at kept events. */
interface KeptEventServices {
  readonly sql: SqlClient
  readonly clock: Clock
}

/** An event of a provider that could not be applied, as commands print it and the operator page shows it. */
export type DescribedKeptEvent = ReturnType<typeof describe>

function describe(event: Awaited<ReturnType<typeof keptEvents.open>>[number]) {
  const { id, provider, type, reason, objectId, messageId, amountCents, cardId, receivedAt } = event
  const at = new Date(receivedAt).toISOString()
  return { id, at, provider, type, reason, amountCents, cardId, objectId, messageId }
}

/** Lists up to `limit` events of providers that wait for the operator, the newest first. */
export async function listKept(
  { sql, clock }: KeptEventServices,
  limit: number,
): Promise<DescribedKeptEvent[]> {
  return (await keptEvents.open(sql, limit, clock.now())).map(describe)
}

/**
 * Marks an event as handled by the operator, and returns it: it is never applied. `reference` is kept with it. Undefined: no event
 * with this id waits. Of simultaneous calls one takes effect.
 */
export async function handleKept(
  { sql, clock }: KeptEventServices,
  id: string,
  reference: string,
): Promise<DescribedKeptEvent | undefined> {
  const handled = await sql.transaction(tx => keptEvents.handle(tx, id, reference, clock.now()))
  return handled && describe(handled)
}
