import { isUint8Array } from 'node:util/types'
import { allow, keyDigest, type Verdict } from '@gatewright/kernel'
import type { IdempotencyDenial } from './codes.ts'
import { fingerprint } from './fingerprint.ts'
import { readKey } from './key.ts'
import type { Settings } from './options.ts'

/** The plain facts of one write. */
export interface RequestFacts {
  /** Who owns the key: the account, for partners the partner and the account. Never the session or API key. */
  readonly account: string
  /** The canonical operation id, so that a legacy path is the same operation. */
  readonly operation: string
  /** The raw header value, or undefined when it was not sent. */
  readonly key: string | undefined
  readonly method: string
  /** The bytes as received: re-serialised JSON is other bytes. */
  readonly body: Uint8Array
}

/** A write that can be looked up. */
export interface IdentifiedRequest {
  readonly facts: RequestFacts
  /** Names account, operation and key: 43 characters of base64url. */
  readonly storageKey: string
  /**
   * Names the effect: the same text for every run of one account, operation, key and payload, for ever and on
   * every host. Give it to whoever makes the effect as their idempotency key or unique id: it also protects
   * where the store has lost its memory. The record keeps it as the fingerprint of the payload. 43 characters of
   * base64url.
   */
  readonly effectId: string
}

/**
 * Reads the key and names the request. Denials: `idempotency_key_required`, `idempotency_key_invalid`. Throws a
 * `TypeError` for a body that is no bytes: texts of one length would be one payload.
 */
export function identify(
  facts: RequestFacts,
  settings: Settings,
): Verdict<IdentifiedRequest, IdempotencyDenial> {
  if (!isUint8Array(facts.body)) {
    throw new TypeError(`body must be the bytes as received (Uint8Array), not ${typeof facts.body}`)
  }
  const key = readKey(facts.key, settings.keyLength)
  if (!key.ok) return key
  const { account, operation } = facts
  // The lengths tell three texts apart that would read alike.
  const name = `${account.length} ${operation.length} ${account} ${operation} ${key.value}`
  const storageKey = keyDigest(name)
  const effectId = fingerprint(storageKey, facts, settings.fingerprint)
  return allow({ facts, storageKey, effectId })
}
