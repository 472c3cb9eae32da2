/** The host names of this machine. `URL` has normalized the spelling of addresses. */
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Whether a URL is on this machine, where no network attacker can change a response. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname)
}

/**
 * Throws a `TypeError` unless a URL that keys come from is `https:`, or `http:` to this machine, or `http:` with
 * `allowHttp`. `where` names the function and the option in the error.
 */
export function assertKeyUrl(where: string, url: URL, allowHttp: boolean): void {
  if (!(url instanceof URL))
    throw new TypeError(`${where}: the address must be a URL object, got ${typeof url}`)
  if (typeof allowHttp !== 'boolean')
    throw new TypeError(`${where}: allowHttp must be true or false, got ${typeof allowHttp}`)
  const { protocol, hostname } = url
  if (protocol === 'https:') return
  if (protocol !== 'http:') throw new TypeError(`${where}: the URL must begin with https:, got ${protocol}`)
  if (allowHttp || isLoopback(url)) return
  throw new TypeError(
    `${where}: http://${hostname} is not encrypted, and whoever can change its response can forge tokens: use https:, or set allowHttp: true if the network to it is private`,
  )
}

/** Describes why a request failed, for a fault. The error of `fetch` has its cause, such as ECONNREFUSED, one level down. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  const { code } = cause as { code?: unknown }
  return typeof code === 'string' && !cause.message.includes(code)
    ? `${cause.message} (${code})`
    : cause.message
}
