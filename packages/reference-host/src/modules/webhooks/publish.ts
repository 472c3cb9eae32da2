import type { Clock } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { defer, toText } from '@gatewright/kernel/internal/sql'
import { publishEvents, type PublishedEvent } from './publish-events.ts'
import type { RecordedEvent } from '@gatewright/host'
import { LRUCache } from 'lru-cache'
import { limitAlert } from '../notifications/limit-alert.ts'
import { kindOf } from '../notifications/texts.ts'
import { publishedEvents } from './published-events.ts'

/** The recipient of the events of wallet users, who have no partner. */
export const OPERATOR = 'operator'

/** Who is told an account's events, and how the account's user is named there. */
interface Audience {
  readonly recipientId: string
  readonly userId: string
}

/** Publishes the events that wait. Resolves to their number. */
export type Publisher = (signal: AbortSignal) => Promise<number>

/** How many accounts a host remembers with their recipients, which never change. */
const REMEMBERED = 20_000

/**
 * Makes the function that publishes events: those of a partner's users for the partner, those of wallet users for the operator while the
 * operator has an endpoint. Events of other accounts are told to nobody.
 */
export function eventPublisher(
  { db, clock }: { readonly db: SqlClient; readonly clock: Clock },
  published: (recipients: ReadonlySet<string>) => Promise<void>,
): Publisher {
  const known = new LRUCache<string, Audience>({ max: REMEMBERED })

  const publish = async (tx: SqlQueries, all: readonly PublishedEvent[]): Promise<readonly string[]> => {
    const unknown = new Set(all.map(({ accountId }) => accountId).filter(id => !known.has(id)))
    for (const [accountId, audience] of await readAudiences(tx, [...unknown])) known.set(accountId, audience)
    const hasEndpoint = await operatorHasEndpoint(tx)
    const recipients: string[] = []
    for (const event of all) {
      const audience = known.get(event.accountId)
      if (!audience || (audience.recipientId === OPERATOR && !hasEndpoint)) continue
      const { recipientId, userId } = audience
      const body = JSON.stringify(eventBody(event, userId))
      const row = [recipientId, event.lane, event.place, event.id, body, clock.now()]
      await defer(tx, publishedEvents.insertText, row)
      recipients.push(recipientId)
    }
    return recipients
  }

  return async signal => {
    const recipients = new Set<string>()
    const count = await publishEvents(
      db,
      async (tx, all) => {
        for (const recipientId of await publish(tx, all)) recipients.add(recipientId)
      },
      signal,
    )
    if (recipients.size > 0) await published(recipients)
    return count
  }
}

/** What a recipient is told about an event: no personal data and no card data. */
export function eventBody(event: RecordedEvent, userId: string): object {
  const { id, subject, number, from, to, amountCents, at } = event
  const alert = limitAlert(event)
  return {
    type: kindOf(event),
    timestamp: new Date(at).toISOString(),
    data: {
      eventId: id,
      userId,
      object: subject.kind,
      id: subject.id,
      number,
      status: to,
      previousStatus: from,
      ...(amountCents === null ? {} : { amountCents, currency: 'USD' }),
      ...(alert ? { alert } : {}),
    },
  }
}

async function readAudiences(
  db: SqlQueries,
  accountIds: readonly string[],
): Promise<readonly (readonly [accountId: string, audience: Audience])[]> {
  if (accountIds.length === 0) return []
  const places = accountIds.map((_, index) => `$${index + 1}`).join(', ')
  const text = `select account_id, id, partner_id, external_id from gw_users where account_id in (${places})`
  return (await rows(db, text, accountIds)).map(row => {
    const isPartners = row['partner_id'] !== null
    const audience = isPartners
      ? { recipientId: toText(row['partner_id']), userId: toText(row['external_id']) }
      : { recipientId: OPERATOR, userId: toText(row['id']) }
    return [toText(row['account_id']), audience] as const
  })
}

async function operatorHasEndpoint(db: SqlQueries): Promise<boolean> {
  const text = 'select 1 from gw_webhook_endpoints where recipient_id = $1 limit 1'
  return (await rows(db, text, [OPERATOR])).length > 0
}
