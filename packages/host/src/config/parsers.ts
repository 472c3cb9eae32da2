import { isIP } from 'node:net'
import { trustedProxies } from '@gatewright/http'
import type { RingKey } from '../records/sealed.ts'

/**
 * Parses the text of a variable. `expected` says what the text must be, worded to follow the variable's name.
 */
export type Parser<T> = (text: string) => { readonly value: T } | { readonly expected: string }

const expected = (text: string): { readonly expected: string } => ({ expected: text })

/** Any text. */
export const anyText: Parser<string> = value => ({ value })

/** An IP address or a host name. */
export const listenAddress: Parser<string> = text =>
  isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text)
    ? { value: text }
    : expected('must be an IP address or a host name to listen on, not a URL')

/** An IP address, a CIDR block, or `unix`. */
export const proxy: Parser<string> = text => {
  try {
    trustedProxies([text])
    return { value: text }
  } catch {
    return expected('must be an IP address, a CIDR block or unix')
  }
}

/** An integer in decimal digits. */
export function wholeNumber(least: number, most: number): Parser<number> {
  return text =>
    /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most
      ? { value: Number(text) }
      : expected(`must be an integer from ${least} to ${most}`)
}

/** One line of 1 to 64 characters that wallets can show. */
export const serviceName: Parser<string> = text =>
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  text.trim() === text && text.length <= 64 && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text)
    ? { value: text }
    : expected('must be one line of 1 to 64 characters without surrounding spaces')

/** An origin without a path. */
export const origin: Parser<string> = text => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.hash
    ? { value: url.origin }
    : expected('must be an http or https origin, such as https://api.example.com')
}

/** One of the given words. */
export function oneOf<const W extends string>(...words: readonly W[]): Parser<W> {
  return text => {
    const word = words.find(each => each === text)
    return word === undefined ? expected(`must be one of ${words.join(', ')}`) : { value: word }
  }
}

/** `on` or `off`. */
export const onOff: Parser<boolean> = text =>
  text === 'on' || text === 'off' ? { value: text === 'on' } : expected('must be on or off')

/** A URL with one of the given schemes. */
export function urlOf(...schemes: readonly string[]): Parser<string> {
  return text =>
    URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1))
      ? { value: text }
      : expected(`must be a URL that starts with ${schemes.join(':// or ')}://`)
}

/**
 * The URL of one Postgres. libpq takes several hosts, of which it tries one after the other; `pg` would look for one host whose name has a
 * comma, and the host would answer 503 for as long as it runs.
 */
export const postgresUrl: Parser<string> = text => {
  const [, address = ''] = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(text) ?? []
  const query = text.includes('?') ? new URLSearchParams(text.slice(text.indexOf('?'))) : undefined
  if ([address, query?.get('host'), query?.get('port')].some(part => part?.includes(',')))
    return expected(
      'must name one server: give several one address that leads to the primary, such as that of HAProxy (docs/clusters.md)',
    )
  return urlOf('postgres', 'postgresql')(text)
}

/** Entries separated by commas, each parsed by `parse`. */
export function listOf<T>(parse: Parser<T>): Parser<readonly T[]> {
  return text => {
    const values: T[] = []
    for (const entry of text.split(',')) {
      const result = parse(entry.trim())
      if ('expected' in result) return expected(`${result.expected}, several joined by commas`)
      values.push(result.value)
    }
    return { value: values }
  }
}

/** A named secret. The first of a list digests; all of them verify. */
export interface NamedSecret {
  readonly id: string
  readonly secret: string
}

/** `id:secret` pairs. No error contains a secret. */
export const namedSecrets: Parser<readonly NamedSecret[]> = text => {
  const matches = text.split(',').map(entry => /^([A-Za-z0-9_-]{1,32}):(.{32,})$/.exec(entry.trim()))
  const named = matches.flatMap(match =>
    match ? [{ id: match[1] as string, secret: match[2] as string }] : [],
  )
  const distinct = new Set(named.map(({ id }) => id)).size === matches.length
  return named.length === matches.length && distinct
    ? { value: named }
    : expected(
        'must be id:secret pairs joined by commas, each id once, each secret at least 32 characters; the first one digests',
      )
}

/** A token of 32 to 256 visible ASCII characters. No error contains the text. */
export const operatorToken: Parser<string> = text =>
  /^[\x21-\x7e]{32,256}$/.test(text)
    ? { value: text }
    : expected('must be 32 to 256 visible ASCII characters, such as what openssl rand -hex 32 prints')

/** `id:key` pairs, each key 64 hexadecimal digits. The first key encrypts; each of them decrypts. No error contains the text. */
export const namedKeys: Parser<readonly RingKey[]> = text => {
  const matches = text.split(',').map(entry => /^([A-Za-z0-9_-]{1,32}):([0-9a-fA-F]{64})$/.exec(entry.trim()))
  const keys = matches.flatMap(match =>
    match ? [{ id: match[1] as string, secret: Buffer.from(match[2] as string, 'hex') }] : [],
  )
  const distinct = new Set(keys.map(({ id }) => id)).size === matches.length
  return keys.length === matches.length && distinct
    ? { value: keys }
    : expected(
        'must be id:key pairs joined by commas, each id once, each key 64 hex digits; the first one encrypts',
      )
}

/**
 * A provider's name and its Standard Webhooks secret: `name=whsec_...`. A name may have two secrets while one replaces the
 * other.
 */
export interface WebhookSecret {
  readonly provider: string
  readonly secret: Uint8Array
}

/** `name=whsec_base64`. No error contains the text. */
export const webhookSecret: Parser<WebhookSecret> = text => {
  const [, provider, encoded = ''] = /^([a-z0-9-]{1,32})=whsec_([A-Za-z0-9+/=]+)$/.exec(text) ?? []
  const secret = Buffer.from(encoded, 'base64')
  return provider !== undefined && secret.length >= 24 && secret.length <= 64
    ? { value: { provider, secret } }
    : expected('must be provider=whsec_... pairs, each secret 24 to 64 bytes in base64')
}

/** 32 bytes as hex or base64. */
export const bytes32: Parser<Uint8Array> = text => {
  const bytes = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64')
  return bytes.length === 32 ? { value: bytes } : expected('must be 32 bytes, as 64 hex digits or base64')
}
