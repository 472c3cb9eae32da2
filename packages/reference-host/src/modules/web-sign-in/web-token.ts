import { randomUUID } from 'node:crypto'
import { allow, GRACE_MS, type Clock, type EpochMs } from '@gatewright/kernel'
import type { NonceStorage } from '@gatewright/signature-verifier'
import type { Sealer, WebSession, WebTokens } from '@gatewright/host/internal'
import { deny } from '../../product/denials.ts'

const PURPOSE = 'web token'
const LIFETIME_MS = 600_000

/** The denial for a token that a person approved for one key with its own rights. */
const onlyForItsKey = deny(
  'policy_blocked',
  'this sign-in was approved for one new key with the rights that the person saw: sign in with a wallet for anything else',
  { details: { rule: 'approved_key' } },
)

/** The denial for a token that is unknown, expired or was used before. */
const notValid = deny('unauthorized', 'the web token is not valid: sign in again')

/**
 * Makes and reads web tokens. They are encrypted texts, so that no row is stored before one is used. `origin` is the host's
 * own.
 */
export function webTokens({
  sealer,
  nonces,
  issuedFrom,
  clock,
  origin,
}: {
  readonly sealer: Sealer
  readonly nonces: NonceStorage
  /** Returns the earliest time of issue of accepted tokens. */
  readonly issuedFrom: () => Promise<EpochMs>
  readonly clock: Clock
  readonly origin: string
}): WebTokens {
  const read = (token: string): WebSession | undefined => {
    const text = sealer.openFromClient(PURPOSE, origin, token)
    return text === undefined ? undefined : (JSON.parse(text) as WebSession)
  }
  return {
    mint: session => sealer.seal(PURPOSE, origin, JSON.stringify(session)),
    read,
    authenticate(token) {
      const webSession = read(token)
      return webSession && clock.now() < webSession.expiresAt ? allow({ webSession }) : notValid
    },
    async claim({ sessionId, expiresAt, key }, use) {
      if (key && use !== 'create a key') return onlyForItsKey
      const now = clock.now()
      if (now >= expiresAt || expiresAt - LIFETIME_MS < (await issuedFrom())) return notValid
      // The prefix distinguishes web tokens from other nonces, which begin with the address of a wallet.
      const first = await nonces.claim(`web token\n${sessionId}`, expiresAt + GRACE_MS, now)
      return first ? allow(undefined) : notValid
    },
  }
}

/** Makes the session of a sign-in. */
export function newWebSession(
  signedIn: Omit<WebSession, 'sessionId' | 'expiresAt'>,
  now: EpochMs,
): WebSession {
  return { sessionId: randomUUID().replaceAll('-', ''), ...signedIn, expiresAt: now + LIFETIME_MS }
}
