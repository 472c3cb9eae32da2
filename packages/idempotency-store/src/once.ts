import { Fault, keyDigest } from '@gatewright/kernel'
import { saysNothingHappened } from '@gatewright/kernel/internal'
import type { Claim } from './execution/claim.ts'
import type { Idempotency } from './idempotency.ts'
import type { StoredResponse } from './response/stored-response.ts'

/** What identifies a job. */
interface OnceRequest {
  /**
   * The id of the operation, such as `invoices.send`. Also the operation of a lost run. 1 to 200 characters. It must not be an operation
   * that clients call with an `Idempotency-Key`: a client could send the digest of a job's key, and the job would not run.
   */
  readonly operation: string
  /** Whose job it is. Different accounts have different keys. 1 to 4096 characters. */
  readonly account: string
  /** What makes the job the same: the id of a message, of a row, or the day of a cron job. Any text of 1 to 4096 characters. */
  readonly key: string
  /**
   * What the job is about, such as the body of a message: a call with the same key and another payload is a `conflict`. JSON is compared
   * as `fingerprint` of `createIdempotency` says. Default: jobs with equal keys are the same.
   */
  readonly payload?: string | Uint8Array
}

/** The result of `once`. */
type OnceResult<T> =
  /** It took effect, in this call or in an earlier one (`repeated`). `value` is what `fn` returned, as JSON keeps it. */
  | { readonly state: 'done'; readonly value: T; readonly repeated: boolean }
  /**
   * It took effect in an earlier call whose value is not stored: it was larger than `maxResponseBytes`, or an operator or `recover` gave
   * no `onceResponse`.
   */
  | { readonly state: 'done_without_value' }
  /** Another call runs it, and did not end within `waitMs`. Ask again later. */
  | { readonly state: 'running' }
  /** An earlier call with this key had another payload. Nothing ran: look at both, because one of them took no effect. */
  | { readonly state: 'conflict' }
  /** An earlier run was lost, so nobody knows whether it took effect. `recover` or an operator decides. */
  | { readonly state: 'unknown'; readonly effectId: string }

/**
 * Runs `fn` at most once for an operation, an account and a key, and returns its value, also to later calls while it is stored
 * (`retentionMs`). Of simultaneous calls on any number of hosts one runs; the others wait up to `waitMs`.
 *
 * If `fn` throws, the error is rethrown and the outcome is unknown: the job does not run again until somebody has decided. If the error
 * was marked by `nothingHappened`, the key is free and the next call runs. Pass `effectId` to whoever makes the effect.
 * Throws a `TypeError` for a request that is not as declared, before anything runs, and for a value that JSON cannot represent, after
 * `fn`; then the outcome is unknown. Faults: `ERR_STORE_*`; if `fn` has run, its outcome is unknown when the lease ends.
 * `ERR_LEASE_LOST`: `fn` outlived its lease, and somebody else has decided.
 */
export type Once = <T>(
  request: OnceRequest,
  fn: (run: { readonly effectId: string; readonly fence: number }) => T | Promise<T>,
) => Promise<OnceResult<T>>

const bytesOf = (payload: string | Uint8Array): Uint8Array =>
  typeof payload === 'string' ? new TextEncoder().encode(payload) : payload

/** Makes `once` for jobs of queues, cron and functions, over the records, options and lost runs of an `Idempotency`. */
export function createOnce(idempotency: Pick<Idempotency, 'begin' | 'complete' | 'release'>): Once {
  if (typeof idempotency?.begin !== 'function' || typeof idempotency.complete !== 'function')
    throw new TypeError('createOnce: idempotency must be what createIdempotency returns')
  return async (request, fn) => {
    const { operation, account, payload } = request
    checkText('operation', operation, 200)
    checkText('account', account, 4096)
    checkText('key', request.key, 4096)
    // A digest, because the key may be any text. The method keeps jobs apart from requests with the same operation and key.
    const key = keyDigest(`once ${request.key}`)
    const body = bytesOf(payload ?? '')
    const begun = await idempotency.begin({ account, operation, key, method: 'ONCE', body })
    if (begun.ok) {
      const { value } = begun
      return value.state === 'replay' ? replayed(value.response) : run(idempotency, value.claim, fn)
    }
    if (begun.code === 'request_in_progress') return { state: 'running' }
    if (begun.code === 'outcome_unknown')
      return { state: 'unknown', effectId: String(begun.details?.['operationId']) }
    if (begun.code === 'idempotency_key_reused' && payload !== undefined) return { state: 'conflict' }
    if (begun.code === 'idempotency_key_reused')
      throw new TypeError(
        `once: a request of the operation ${operation} has the key of this job: give jobs an operation that clients cannot call`,
      )
    throw new TypeError(
      `once: ${begun.message} minKeyLength must be at most ${key.length}, and maxKeyLength at least.`,
    )
  }
}

/**
 * Makes the response that a `recover` or an operator returns for a job which took effect with this value:
 * `{ state: 'completed', response: onceResponse(value) }`. Throws a `TypeError` for a value that JSON cannot represent.
 */
export function onceResponse(value: unknown): StoredResponse {
  const body: string | undefined = JSON.stringify(value)
  if (body === undefined && value !== undefined)
    throw new TypeError(`once: JSON cannot represent a value of the type ${typeof value}`)
  return { status: 200, headers: [], body: body ?? '' }
}

async function run<T>(
  { complete, release }: Pick<Idempotency, 'complete' | 'release'>,
  claim: Claim,
  fn: (run: { readonly effectId: string; readonly fence: number }) => T | Promise<T>,
): Promise<OnceResult<T>> {
  let response: StoredResponse
  try {
    const { effectId, fence } = claim
    response = onceResponse(await fn({ effectId, fence }))
  } catch (error) {
    await endFailed({ complete, release }, claim, error)
    throw error
  }
  const { state } = await complete(claim, response)
  if (state === 'late')
    throw new Fault('ERR_LEASE_LOST', 'the job outlived its lease: raise leaseMs, or set maxRunMs')
  return { state: 'done', value: valueOf(response) as T, repeated: false }
}

/** Ends a run whose function threw. A fault of the store is ignored: the caller gets the error, and the run is lost when its lease ends. */
async function endFailed(
  { complete, release }: Pick<Idempotency, 'complete' | 'release'>,
  claim: Claim,
  error: unknown,
): Promise<void> {
  try {
    if (saysNothingHappened(error)) await release(claim)
    else await complete(claim, { status: 500, headers: [], body: '' })
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault
  }
}

function replayed<T>(response: StoredResponse): OnceResult<T> {
  if (response.bodyOmitted) return { state: 'done_without_value' }
  try {
    return { state: 'done', value: valueOf(response) as T, repeated: true }
  } catch {
    // A response of `recover` or an operator that is not JSON.
    return { state: 'done_without_value' }
  }
}

const valueOf = ({ body }: StoredResponse): unknown => (body === '' ? undefined : JSON.parse(body))

function checkText(name: string, text: unknown, longest: number): void {
  if (typeof text === 'string' && text.length >= 1 && text.length <= longest) return
  const came = typeof text === 'string' ? `${text.length}` : typeof text
  throw new TypeError(
    `once: ${name} must be a text of 1 to ${longest} characters, got ${came}${name === 'key' ? ': hash a longer key' : ''}`,
  )
}
