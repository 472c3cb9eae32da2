import type { HostServices } from '@gatewright/host'
import { counted } from '@gatewright/host/internal'
import type { KeyRecord } from '@gatewright/session-issuer'
import { openCardsOfKeys, type CardChoice } from '../cards/ended-keys.ts'
import { ago } from '../../product/ago.ts'
import { liveSessionsOf } from './live-sessions.ts'

/**
 * Says what ends with a key, such as `Revoke "old-server" (PZSx6HnbeBXdGfgy) of 0x19e7...? It has 9 sessions, 0 keys below it and 0 cards (they go on). Last used 42 min ago.` `choice` is
 * undefined for a key of a partner.
 */
export async function revokedKeySubject(
  { backend, clock }: Pick<HostServices, 'backend' | 'clock'>,
  key: KeyRecord,
  choice: CardChoice | undefined,
): Promise<string> {
  const { id, label, accountId, walletAddress, lastUsedAt, revokedAt } = key
  const now = clock.now()
  const { keys } = await backend.issuer.keys.load(accountId)
  const below = keys.filter(each => each.ancestry.includes(key.lineageId) && each.revokedAt === null)
  const ended = new Set([id, ...below.map(each => each.id)])
  const sessions = await liveSessionsOf(backend.issuer, accountId, now)
  // Sessions of a partner's key belong to the accounts of its users.
  const about = [
    choice === undefined
      ? 'sessions of its users'
      : counted(sessions.filter(({ keyId }) => ended.has(keyId)).length, 'sessions'),
    `${counted(below.length, 'keys')} below it`,
  ]
  if (choice !== undefined) {
    const cards = await openCardsOfKeys(backend.sql, keys, { accountId, keyIds: [id] })
    about.push(`${counted(cards.size, 'cards')} (${CARDS[choice]})`)
  }
  const used = lastUsedAt === null ? 'Never used.' : `Last used ${ago(now - lastUsedAt)}.`
  const state = revokedAt === null ? '' : ' It is revoked already.'
  const name = label === null ? id : `${JSON.stringify(label)} (${id})`
  return `Revoke ${name} of ${walletAddress ?? accountId}? It has ${about.slice(0, -1).join(', ')} and ${about.at(-1)}. ${used}${state}`
}

const CARDS: Readonly<Record<CardChoice, string>> = {
  lock: 'locked with it',
  cancel: 'canceled with it',
  keep: 'they go on',
}
