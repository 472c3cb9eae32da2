import { machineClock, type ClientClock } from './clock.ts'
import type { CreatePartnerSessionRequest, CreateSessionRequest } from './generated/schemas.ts'

/** Options of `createClient`. */
export interface ClientOptions {
  /** The address of the host, such as `https://api.example`. A path before those of the API is kept. */
  readonly url: string
  /** Whom the calls are made for. Default: nobody, for operations without a credential. */
  readonly credential?: ClientCredential
  /** How often a failed request is sent again where that has no second effect: 0 to 10. Default: 2. */
  readonly retries?: number
  /** The longest `Retry-After` that is waited for, in seconds: 0 to 3600. With a longer one the call fails. Default: 30. */
  readonly maxRetryAfterSeconds?: number
  /** How long an attempt may take, in ms: 1 to 600,000. The host itself ends a request after 30 s. Default: 40,000. */
  readonly timeoutMs?: number
  /** Sends the requests. Default: the `fetch` of the runtime. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Default: the clock of the machine. */
  readonly clock?: ClientClock
}

/** The credential of a client: one of these three. */
type ClientCredential = UserCredential | PartnerCredential | TokenCredential

interface UserCredential {
  /** A user API key. The client gets sessions for it, and replaces each before it ends. */
  readonly userKey: string
  /** What the sessions may do. Default: what the key may do, for 900 seconds. */
  readonly session?: CreateSessionRequest
}

interface PartnerCredential {
  /** A partner API key. Never in a browser or an app. */
  readonly partnerKey: string
  /** For which user of the partner sessions are, and what they may do. Without it the client calls only what takes the partner key itself. */
  readonly session?: CreatePartnerSessionRequest
}

interface TokenCredential {
  /** A session token or a web token that you have. The client does not replace it. */
  readonly token: string
}

/** The options with their defaults, as `credential` the members of all three. */
export interface ClientSettings
  extends Required<
    Pick<ClientOptions, 'retries' | 'maxRetryAfterSeconds' | 'timeoutMs' | 'fetch' | 'clock'>
  > {
  /** Without a slash at its end. */
  readonly url: string
  readonly credential: Partial<
    Omit<UserCredential, 'session'> & Omit<PartnerCredential, 'session'> & TokenCredential
  > & {
    readonly session?: CreateSessionRequest | CreatePartnerSessionRequest
  }
}

/** Checks the options once. Throws a `TypeError` that names a wrong one. */
export function settingsOf(options: ClientOptions): ClientSettings {
  assertKnown('createClient', options, OPTIONS)
  const { url, fetch, clock = machineClock } = options
  const credential: ClientSettings['credential'] = options.credential === undefined ? {} : options.credential
  assertKnown('createClient credential', credential, CREDENTIAL)
  if (
    [credential.userKey, credential.partnerKey, credential.token].filter(each => each !== undefined).length >
    1
  )
    throw new TypeError('credential must have one of userKey, partnerKey and token')
  for (const name of ['userKey', 'partnerKey', 'token'] as const)
    if (credential[name] !== undefined) assertVisible(`credential.${name}`, credential[name])
  return {
    url: baseOf(url),
    credential,
    retries: integer('retries', options.retries ?? 2, 0, 10),
    maxRetryAfterSeconds: integer('maxRetryAfterSeconds', options.maxRetryAfterSeconds ?? 30, 0, 3600),
    timeoutMs: integer('timeoutMs', options.timeoutMs ?? 40_000, 1, 600_000),
    // Found at each call, so that tools which replace the global one see every request.
    fetch: fetch ?? ((target, init) => globalThis.fetch(target, init)),
    clock,
  }
}

const OPTIONS = ['url', 'credential', 'retries', 'maxRetryAfterSeconds', 'timeoutMs', 'fetch', 'clock']
const CREDENTIAL = ['userKey', 'partnerKey', 'token', 'session']

function assertKnown(where: string, given: unknown, known: readonly string[]): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new TypeError(`${where}: options must be an object, not ${kindOf(given)}`)
  const unknown = Object.keys(given).find(name => !known.includes(name))
  if (unknown === undefined) return
  const near = known.find(name => edits(unknown, name) <= Math.min(2, name.length / 3))
  const hint = near === undefined ? '.' : `, did you mean ${near}?`
  throw new TypeError(`${where}: unknown option "${unknown}"${hint} Known options: ${known.join(', ')}`)
}

function kindOf(given: unknown): string {
  return given === null ? 'null' : Array.isArray(given) ? 'an array' : typeof given
}

/** Counts the insertions, deletions and replacements between two texts. */
function edits(from: string, to: string): number {
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const next = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = (last[column - 1] as number) + (from[row - 1] === to[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, (last[column] as number) + 1, (next[column - 1] as number) + 1))
    }
    last = next
  }
  return last[to.length] as number
}

/**
 * Throws a `TypeError` for a value of a header field that is no text of visible ASCII characters. The error does not contain it: what sends
 * requests would show it.
 */
export function assertVisible(name: string, value: unknown): void {
  if (!isVisible(value))
    throw new TypeError(`${name} must be a text of visible ASCII characters, without spaces and line breaks`)
}

/** Whether a value is a text that a header field can carry as a credential. */
export const isVisible = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)

function baseOf(url: string): string {
  const base = URL.canParse(url) ? new URL(url) : undefined
  const plain =
    base && /^https?:$/.test(base.protocol) && base.search + base.hash + base.username + base.password === ''
  if (!plain)
    throw new TypeError(
      'url must be the http or https address of a host, without credentials, query and fragment',
    )
  return base.href.replace(/\/+$/, '')
}

function integer(name: string, value: number, least: number, most: number): number {
  if (!Number.isInteger(value) || value < least || value > most)
    throw new TypeError(`${name} must be an integer from ${least} to ${most}, got ${String(value)}`)
  return value
}
