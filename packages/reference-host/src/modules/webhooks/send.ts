import { lookup as resolveName, type LookupAddress, type LookupOptions } from 'node:dns'
import http, { type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { withDeadline } from '@gatewright/kernel/internal'
import { isPublicAddress } from '@gatewright/kernel/internal/address'

/** One attempt to send an event. */
interface Attempt {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What came of an attempt. */
export interface AttemptResult {
  readonly ok: boolean
  /** The status of the response, or why there was none, such as `timeout`. Never a part of the URL. */
  readonly result: string
  /** What a response asked to wait, in ms. */
  readonly retryAfterMs?: number
}

/** Sends an event. Never rejects, and settles when its time limit is over or the signal aborts, whatever the receiver does. */
export type Send = (attempt: Attempt, signal: AbortSignal) => Promise<AttemptResult>

/** How an attempt resolves a name, as `lookup` of `node:dns` does. */
type ResolveName = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

interface SendOptions {
  /** Whether an address may be connected to. Default: public addresses only. */
  readonly isAllowed?: (address: string) => boolean
  readonly resolve?: ResolveName
  /** How long an attempt may take, in ms. Default: 15 seconds. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 15_000
/** How much of a response is read. More of it closes the connection. */
const MAX_RESPONSE_BYTES = 65_536
const MAX_RETRY_AFTER_MS = 86_400_000
/** The result of an attempt whose address may not be connected to. */
const REFUSED = 'private_address'

/**
 * Makes the function that sends events. It follows no redirect. It checks the address of each new connection, so that a name that resolves
 * to another address later cannot reach the network of the host.
 */
export function webhookSender({
  isAllowed = isPublicAddress,
  resolve = resolveName,
  timeoutMs = TIMEOUT_MS,
}: SendOptions = {}): Send {
  const lookup = checkedLookup(resolve, isAllowed)
  const agents = {
    'http:': new http.Agent({ keepAlive: true }),
    'https:': new https.Agent({ keepAlive: true }),
  }

  return async ({ url, headers, body }, signal) => {
    const target = new URL(url)
    const address = target.hostname.replace(/^\[|\]$/g, '')
    // No name is resolved for an address.
    if (isIP(address) !== 0 && !isAllowed(address)) return { ok: false, result: REFUSED }
    const options: RequestOptions = {
      method: 'POST',
      agent: agents[target.protocol as keyof typeof agents],
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      lookup,
    }
    let response: IncomingMessage | undefined
    const noteResponse = (received: IncomingMessage): void => void (response = received)
    try {
      await withDeadline({ ms: timeoutMs, signal }, ending =>
        exchange(target, { ...options, signal: ending }, body, noteResponse),
      )
    } catch (error) {
      // The status counts, also where the body does not come to an end.
      if (!response) return { ok: false, result: reasonOf(error) }
    }
    return response ? resultOf(response) : { ok: false, result: 'failed' }
  }
}

/** Sends a request and reads its response, which `onHead` gets before its body. Resolves when the body was read. */
function exchange(
  target: URL,
  options: RequestOptions,
  body: string,
  onHead: (response: IncomingMessage) => void,
): Promise<void> {
  const { request } = target.protocol === 'https:' ? https : http
  return new Promise((resolve, reject) => {
    const sent = request(target, options)
    sent.on('response', response => {
      onHead(response)
      response.on('error', reject)
      // It switches protocols without naming one. Nothing that follows is HTTP, so the connection is not used again.
      if (response.statusCode === 101) {
        sent.destroy()
        return
      }
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > MAX_RESPONSE_BYTES) response.destroy()
      })
    })
    // A receiver may switch protocols unasked: Node then gives the socket away, and emits neither `response` nor `error`.
    sent.on('upgrade', (response, socket) => {
      onHead(response)
      socket.destroy()
    })
    sent.on('error', reject)
    // Emitted last, whatever ends the connection, and also where nothing else is emitted.
    sent.on('close', resolve)
    sent.end(body)
  })
}

function resultOf({ statusCode = 0, headers }: IncomingMessage): AttemptResult {
  const ok = statusCode >= 200 && statusCode < 300
  const retryAfterMs = ok ? undefined : retryAfter(headers['retry-after'])
  return { ok, result: String(statusCode), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

/** Reads `Retry-After` (RFC 9110, 10.2.3): seconds, or a date. At most a day. */
function retryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

/** Why there was no response. Messages of errors are not used: they can contain the URL. */
function reasonOf(error: unknown): string {
  const { name, code, cause } = error as NodeJS.ErrnoException
  if (name === 'TimeoutError' || (cause as Error | undefined)?.name === 'TimeoutError') return 'timeout'
  return typeof code === 'string' && /^[A-Za-z_]{1,64}$/.test(code) ? code : 'failed'
}

/** Resolves names. One address that is not allowed refuses the name. */
function checkedLookup(resolve: ResolveName, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error || !first) return callback(error ?? new Error('no address'), '', 0)
      if (!addresses.every(({ address }) => isAllowed(address)))
        return callback(Object.assign(new Error('the address is not allowed'), { code: REFUSED }), '', 0)
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family)
    })
  }
}
