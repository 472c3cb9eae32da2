import { statuses } from './generated/codes.ts'

type Statuses = typeof statuses

/** What every problem has. */
interface ProblemBase {
  /** What was wrong, for people. It may change; programs read `code`. */
  readonly message: string
  /** The member, parameter or header field that was wrong. */
  readonly field?: string
  /** Names the request in the logs of the host, and in its list of requests. */
  readonly requestId?: string
  /** Seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number
  /** A page that explains the code. */
  readonly docs?: string
  /** All members of the error as the host sent them. */
  readonly body: Readonly<Record<string, unknown>>
}

/** Members of single codes. */
interface Members {
  readonly insufficient_scope: {
    /** The missing scope, or several. */
    readonly scope: string | readonly string[]
  }
  readonly policy_blocked: {
    /** The rule that forbids it. Caps also say how much of them is left. */
    readonly rule: string
    readonly window?: string
    readonly unit?: 'cents' | 'count'
    readonly limit?: number
    readonly remaining?: number
    readonly requested?: number
    /** When the next window begins, or when the amount fits in a rolling one; null: never. */
    readonly resetsAt?: string | null
    /** The key that has the policy. */
    readonly keyId?: string
  }
  readonly outcome_unknown: {
    /** The effect to ask the operator about. */
    readonly operationId: string
  }
}

type HostProblem = {
  readonly [Code in keyof Statuses]: ProblemBase & {
    readonly code: Code
    readonly status: Statuses[Code]
  } & (Code extends keyof Members ? Members[Code] : unknown)
}[keyof Statuses]

/** No response arrived: the network failed, the connection was cut, or the time of the attempt was over. */
interface NoResponse extends ProblemBase {
  readonly code: 'no_response'
  readonly status: 0
}

/** A response that is not of this API, such as a page of a proxy, or an error code of a later version. */
interface UnrecognizedResponse extends ProblemBase {
  readonly code: 'unrecognized_response'
  readonly status: number
}

/** Why a call failed. `switch` over `code`, which gives each problem its own members. */
export type Problem = HostProblem | NoResponse | UnrecognizedResponse

/** A call failed: thrown by `Client.call` and `Client.items` after the last attempt. */
export class GatewrightError extends Error {
  override readonly name = 'GatewrightError'
  readonly problem: Problem
  /**
   * The key that the write was sent with. Repeat the call with it if the outcome is not known (`no_response`, `service_unavailable`):
   * it then takes effect at most once. Undefined for an operation without keys.
   */
  readonly idempotencyKey: string | undefined

  constructor(problem: Problem, idempotencyKey?: string, cause?: unknown) {
    super(`${problem.code}: ${problem.message}`, cause === undefined ? {} : { cause })
    this.problem = problem
    this.idempotencyKey = idempotencyKey
  }
}

/** The problem of a request without a response. */
export function noResponse(error: unknown): Problem {
  const message = `No response from the host: ${error instanceof Error ? error.message : String(error)}`
  return { code: 'no_response', status: 0, message, body: {} }
}

/** Reads the problem of a response: plain, in an envelope, or a problem document (RFC 9457). `body` is what its JSON says; undefined if it is no JSON. `now` in epoch ms. */
export function problemOf(response: Response, body: unknown, now: number): Problem {
  const { status, headers } = response
  const members = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  // RFC 9457 has the code as `code` and the message as `detail`; the host as `error` and `message`.
  const code = members['error'] ?? members['code']
  const { message = members['detail'] } = members
  const known = typeof code === 'string' && Object.hasOwn(statuses, code)
  const requestId = headers.get('x-request-id')
  const { retryAfterSeconds: inBody, ...others } = members
  const retryAfterSeconds = retryAfter(headers.get('retry-after'), now) ?? secondsOf(inBody)
  return {
    ...others,
    code: known ? code : 'unrecognized_response',
    status,
    message: typeof message === 'string' ? message : `The host responded with status ${status}`,
    ...(requestId === null ? {} : { requestId }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    body: members,
  } as Problem
}

/** Reads seconds of a body: 0 to 999,999,999. Undefined for anything else. */
function secondsOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? Math.min(Math.ceil(value), 999_999_999) : undefined
}

/** Reads `Retry-After` (RFC 9110 section 10.2.3): seconds or a date. Undefined if it is neither. */
function retryAfter(field: string | null, now: number): number | undefined {
  if (field === null) return undefined
  if (/^\d{1,9}$/.test(field)) return Number(field)
  const at = Date.parse(field)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000))
}
