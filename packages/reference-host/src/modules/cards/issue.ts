import { allow, Fault, type Session, type Verdict } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { HostServices, HostDenial } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import type { CardIssuer, IssuedCard } from '../../providers/cards/port.ts'
import { isRejection } from '../../providers/reply.ts'
import { invalidState } from '../invalid-state.ts'
import { originOf, type CardOrigin } from './caller-policies.ts'
import type { Card, NewCard } from './card.ts'
import { denyEndedKey } from './ended-keys.ts'
import { cards } from './store.ts'
import type { CardServices } from './services.ts'

/** Maximum number of an account's cards that are not canceled. */
const MAX_CARDS = 50
/** Maximum number of cards that an account makes in 24 hours, canceled ones included, because canceled cards are kept. */
const MAX_CARDS_A_DAY = 200
const DAY_MS = 86_400_000

/** The properties of a new card, before it is issued. */
export type CardTerms = Pick<
  NewCard,
  | 'id'
  | 'limit'
  | 'disposable'
  | 'autoCancelAfterAuth'
  | 'folderId'
  | 'encryptedName'
  | 'encryptedColor'
  | 'encryptedEmoji'
  | 'encryptedMemo'
>

/** A card that its issuer has and the host does not store yet. Until it is stored, no payment with it is authorized. */
export interface IssuedCardWithOrigin {
  readonly issued: IssuedCard
  readonly origin: CardOrigin
  /** The account and the key of the session that asked for it. */
  readonly accountId: string
  readonly keyId: string
}

/** Returns the issuer of a host. Fault: `ERR_PROVIDER_UNAVAILABLE` if the host has no issuer, or `name` is another issuer's. */
export function issuerOf({ providers }: Pick<CardServices, 'providers'>, name?: string): CardIssuer {
  const issuer = providers.cards
  if (!issuer || (name !== undefined && issuer.name !== name))
    throw new Fault('ERR_PROVIDER_UNAVAILABLE', `this host has no card issuer ${name ?? ''}`)
  return issuer
}

const tooManyCards = deny('policy_blocked', `the account has ${MAX_CARDS} cards: cancel one first`, {
  details: { rule: 'max_cards' },
})

const tooManyToday = deny(
  'policy_blocked',
  `the account has made ${MAX_CARDS_A_DAY} cards within 24 hours: try again later`,
  { details: { rule: 'max_cards' } },
)

/** Denies another card if the account has as many as allowed, or has made as many as allowed within 24 hours. */
async function denyAnother(
  { clock }: Pick<HostServices, 'clock'>,
  db: SqlQueries,
  accountId: string,
): Promise<HostDenial | undefined> {
  if ((await cards.openCount(db, accountId)) >= MAX_CARDS) return tooManyCards
  const madeToday = await cards.madeAfter(db, accountId, clock.now() - DAY_MS, MAX_CARDS_A_DAY)
  return madeToday >= MAX_CARDS_A_DAY ? tooManyToday : undefined
}

/**
 * Issues a card, before the transaction that stores it. Undefined: the account has the card already. Denials: `policy_blocked`
 * with the rule `max_cards`; that of `invalidState` with the reason `issuer_refused`. `insertIssued` counts again, because
 * other requests may run at the same time.
 */
export async function issueCard(
  services: Pick<CardServices, 'clock' | 'db' | 'issuer' | 'providers'>,
  session: Session,
  { id, limit, disposable }: Pick<CardTerms, 'id' | 'limit' | 'disposable'>,
): Promise<Verdict<IssuedCardWithOrigin | undefined, HostDenial>> {
  const { db, issuer } = services
  if (await cards.find(db, session.accountId, id)) return allow(undefined)
  const denial = await denyAnother(services, db, session.accountId)
  if (denial) return denial
  const origin = await originOf(issuer, session)
  const { signal } = new AbortController()
  const issued = await issuerOf(services).issue(id, { limit, disposable }, signal)
  if (isRejection(issued))
    return invalidState(session.surface, 'the issuer refused the card: change its limit', 'limit', {
      reason: 'issuer_refused',
    })
  const { accountId, keyId } = session
  return allow({ issued, origin, accountId, keyId })
}

/**
 * Stores an issued card. Undefined: the card exists already. Denied if the key was revoked meanwhile, and with `policy_blocked`, rule `max_cards`, if the account has
 * 50 open cards: they are counted while its row is locked, so simultaneous requests do not exceed 50. The issuer then has a
 * card that the host does not store, and with which no payment is authorized.
 */
export async function insertIssued(
  { clock, providers }: Pick<CardServices, 'clock' | 'providers'>,
  tx: SqlQueries,
  terms: CardTerms,
  { issued, origin, accountId, keyId }: IssuedCardWithOrigin,
): Promise<Verdict<Card | undefined, HostDenial>> {
  const live = await denyEndedKey(tx, { accountId, keyId })
  if (!live.ok) return live
  if (await cards.find(tx, accountId, terms.id)) return allow(undefined)
  const denial = await denyAnother({ clock }, tx, accountId)
  if (denial) return denial
  const { last4, expirationMonth, expirationYear } = issued
  const issuer = issuerOf({ providers }).name
  const card: NewCard = {
    ...terms,
    status: 'active',
    last4,
    expirationMonth,
    expirationYear,
    issuer,
    ...origin,
  }
  const [made] = await cards.insert(tx, accountId, [card], clock.now())
  return allow(made)
}
