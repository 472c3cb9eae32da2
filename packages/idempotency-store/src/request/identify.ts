import { allow, keyDigest, type Verdict } from '@gatewright/kernel'
import type { IdempotencyDenial } from '../codes.ts'
import { isUint8Array } from '../is-uint8-array.ts'
import type { Settings } from '../options.ts'
import { fingerprint } from './fingerprint.ts'
import { readKey } from './key.ts'

/** One write, as the client sent it. */
export interface IdempotentRequest {
  /** The owner of the key: the account, or for partners the partner and the account. Never the session or API key. */
  readonly account: string
  /** Whose run it is, for operators who decide about lost runs: the account id of the session. Default: `account`. */
  readonly accountLabel?: string | undefined
  /** The canonical operation id, so that a legacy path is the same operation. */
  readonly operation: string
  /** The value of the `Idempotency-Key` header, or undefined if it was not sent. */
  readonly key: string | undefined
  readonly method: string
  /**
   * The target of the write, as one text: path parameters, and the query if it is compared, under their canonical names.
   * Another target is another payload. Absent: empty.
   */
  readonly target?: string | undefined
  /** The bytes as received. Do not serialize parsed JSON again: parsing loses what makes two bodies differ, such as digits of numbers. */
  readonly body: Uint8Array
}

/** A write and the ids that were computed from it. */
export interface IdentifiedRequest {
  readonly request: IdempotentRequest
  /**
   * Identifies account, operation and key: 43 characters of base64url, a dot, and the account of the record, by which a database of
   * several machines places it. Both are computed from the same account, so that a request has one record.
   */
  readonly storageKey: string
  /**
   * Identifies the effect, in 43 characters of base64url: the same for every run of one account, operation, key, method, target and
   * body (as JSON value, or byte by byte: `fingerprint`), on every host, forever. The system that makes the effect should use it as idempotency key or unique id: this protects the
   * effect even if the store loses its records. The record stores it as the payload's fingerprint.
   */
  readonly effectId: string
}

/**
 * Reads the idempotency key and computes the ids of a write. Denials: `idempotency_key_required`,
 * `idempotency_key_invalid`. Throws a `TypeError` for a body that is not bytes, whose content would not be compared.
 */
export function identify(
  request: IdempotentRequest,
  settings: Settings,
): Verdict<IdentifiedRequest, IdempotencyDenial> {
  if (!isUint8Array(request.body)) {
    throw new TypeError(`body must be the bytes as received (Uint8Array), not ${typeof request.body}`)
  }
  const key = readKey(request.key, settings.keyLength)
  if (!key.ok) return key
  const { account, operation } = request
  // With the lengths, different triples never give the same text.
  const name = `${account.length} ${operation.length} ${account} ${operation} ${key.value}`
  const digest = keyDigest(name)
  const storageKey = `${digest}.${placeOf(account)}`
  return allow({ request, storageKey, effectId: fingerprint(digest, request, settings.fingerprint) })
}

/** Returns the account of a record: the owner itself if it is an id, so that the record is where the account's other rows are. */
function placeOf(account: string): string {
  return /^[\w-]{1,64}$/.test(account) ? account : keyDigest(account)
}
