import { allow, type EpochMs, type Session, type Verdict } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { defer, toText } from '@gatewright/kernel/internal/sql'
import type { Access } from '@gatewright/scope-guard'
import type { ApiKey } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'
import type { HostServices, HostDenial } from '@gatewright/host'
import { counted } from '@gatewright/host/internal'
import { UsageError, type CommandArguments } from '@gatewright/host/cli'
import { deny } from '../../product/denials.ts'
import { lineagesFrom } from './cancel.ts'
import { lockAccount } from '../users/lock-account.ts'
import type { CancelReason } from './card.ts'
import { revealedBy } from './revealed-by.ts'
import { cards } from './store.ts'

/**
 * What a revocation does with the cards that the key, or a key below it, made or revealed. `lock`: whoever knows their numbers cannot pay, and
 * the owner may unlock them. `cancel`: they end for good. `keep`: they go on.
 */
export const CARD_CHOICES = ['lock', 'cancel', 'keep'] as const
export type CardChoice = (typeof CARD_CHOICES)[number]

/** Schema of the choice in a query. `more`: what the operation adds. */
export const cardChoice = (more: string) =>
  Type.Optional(
    Type.Enum([...CARD_CHOICES], {
      description: `\`lock\`: nobody pays with them until the owner unlocks them. \`cancel\`: they end for good; needs the scope \`cards.write\`. \`keep\`: they go on. ${more}`,
      expected: 'must be "lock", "cancel" or "keep", once, or absent',
    }),
  )

/** Denies `cancel` to a session that may not change cards: `insufficient_scope`, field `cards`. */
export function denyCancel(caller: Access, choice: CardChoice | undefined): HostDenial | undefined {
  if (choice !== 'cancel' || caller.session.scopes.includes('cards.write')) return undefined
  return deny('insufficient_scope', 'cards=cancel needs the scope cards.write', { field: 'cards' })
}

/** Reads what the option `--cards` of a command says. Throws a `UsageError`. */
export function cardChoiceOf({
  options: { cards },
}: Pick<CommandArguments, 'options'>): CardChoice | undefined {
  if (cards === undefined || (CARD_CHOICES as readonly string[]).includes(cards))
    return cards as CardChoice | undefined
  throw new UsageError('--cards must be lock, cancel or keep')
}

/** The choice where none is stated: a key that another key made was given to somebody else. */
export const defaultChoice = ({ parentId }: Pick<ApiKey, 'parentId'>): CardChoice =>
  parentId === null ? 'keep' : 'lock'

/** Says what a revocation did with the cards of a key, as a member of responses. */
export function endedCards(choice: CardChoice, ended: number): Readonly<Record<string, number>> {
  if (choice === 'keep') return {}
  return choice === 'lock' ? { lockedCards: ended } : { canceledCards: ended }
}

/** Says what a revocation did with the cards of a key, in a sentence. */
export function cardWords(choice: CardChoice, ended: number): string {
  if (choice === 'keep') return 'Cards that it made go on.'
  return `${counted(ended, 'cards')} ${choice === 'lock' ? 'locked' : 'canceled'}.`
}

/** What the caller of a revocation has chosen. */
interface Ending {
  readonly choice: CardChoice
  /** Why canceled cards were canceled. */
  readonly reason: CancelReason
}

/** How long a request that began before the revocation may take to commit, with a wide margin. */
const KEPT_MS = 86_400_000

const MADE = `select id from gw_cards where key_account_id = $1 and key_lineage_id = $2 and account_id = $1 and status <> 'canceled'`
const REVEALED = `select distinct subject_id as id, detail from gw_events
  where account_id = $1 and subject_kind = 'card' and cause = 'revealed' and kept = 1`

/** Keys of an account that were revoked. */
interface RevokedKeys {
  readonly accountId: string
  readonly keyIds: readonly string[]
}

/**
 * Locks or cancels the open cards that revoked keys, or keys below them, made or have revealed, each in a transaction of its own, and resolves to
 * how many. Call it after the revocation; to repeat it is safe. A request of these keys that began before makes and reveals no card
 * afterwards: see `denyEndedKey`. Faults: `ERR_STORE_*`; some cards may be locked then.
 */
export async function endCardsOfKeys(
  { db, backend, clock }: Pick<HostServices, 'db' | 'backend' | 'clock'>,
  { accountId, keyIds: revoked }: RevokedKeys,
  { choice, reason }: Ending,
): Promise<number> {
  if (choice === 'keep' || revoked.length === 0) return 0
  const { keys } = await backend.issuer.keys.load(accountId)
  const tree = treeOf(keys, revoked)
  const now = clock.now()
  await db.transaction(tx => recordEnded(tx, accountId, tree.keyIds, now))
  let ended = 0
  for (const id of await cardsOf(db, accountId, tree)) {
    const isEnded = await db.transaction(async tx => {
      const card = await cards.lock(tx, accountId, id)
      if (!card || card.status === 'canceled' || (choice === 'lock' && card.status === 'locked')) return false
      if (choice === 'lock') await cards.lockCard(tx, card, 'key_revoked', now)
      else await cards.cancelCard(tx, card, reason, now)
      return true
    })
    if (isEnded) ended += 1
  }
  return ended
}

/** The ids of the open cards that keys, or keys below them, made or have revealed. `keys` are all of the account. */
export function openCardsOfKeys(
  db: SqlClient,
  keys: readonly ApiKey[],
  { accountId, keyIds: from }: RevokedKeys,
): Promise<ReadonlySet<string>> {
  return cardsOf(db, accountId, treeOf(keys, from))
}

/** The lineages and the keys of a tree. */
function treeOf(keys: readonly ApiKey[], from: readonly string[]) {
  const lineages = new Set(from.flatMap(id => lineagesFrom(keys, id)).map(each => each.lineageId))
  return { lineages, keyIds: new Set(keys.filter(key => lineages.has(key.lineageId)).map(key => key.id)) }
}

/** The open cards that keys of a tree made or have revealed. */
async function cardsOf(
  db: SqlClient,
  accountId: string,
  { lineages, keyIds }: { readonly lineages: ReadonlySet<string>; readonly keyIds: ReadonlySet<string> },
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const lineageId of lineages)
    for (const row of await rows(db, MADE, [accountId, lineageId])) found.add(toText(row['id']))
  for (const row of await rows(db, REVEALED, [accountId])) {
    const keyId = revealedBy({ cause: 'revealed', detail: toText(row['detail']) })
    if (keyId !== undefined && keyIds.has(keyId)) found.add(toText(row['id']))
  }
  return found
}

/** Records that keys have ended. Afterwards `denyEndedKey` denies their requests. */
async function recordEnded(
  tx: SqlQueries,
  accountId: string,
  keyIds: ReadonlySet<string>,
  now: EpochMs,
): Promise<void> {
  await lockAccount(tx, accountId)
  await rows(tx, 'delete from gw_ended_keys where account_id = $1 and ended_at < $2', [
    accountId,
    now - KEPT_MS,
  ])
  for (const keyId of keyIds)
    await defer(
      tx,
      'insert into gw_ended_keys (account_id, key_id, ended_at) values ($1, $2, $3) on conflict do nothing',
      [accountId, keyId, now],
    )
}

/**
 * Denies a card, or its number, to a key that has been revoked since the request began. Locks the account, so that a revocation which locks
 * cards either comes before and is seen here, or comes after and finds what this transaction did.
 */
export async function denyEndedKey(
  tx: SqlQueries,
  { accountId, keyId }: Pick<Session, 'accountId' | 'keyId'>,
): Promise<Verdict<undefined, HostDenial>> {
  await lockAccount(tx, accountId)
  const found = await rows(tx, 'select 1 from gw_ended_keys where account_id = $1 and key_id = $2', [
    accountId,
    keyId,
  ])
  return found.length === 0 ? allow(undefined) : deny('unauthorized', 'the key of this session is revoked')
}
