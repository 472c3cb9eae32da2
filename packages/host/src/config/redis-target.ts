import type { Parser } from './parsers.ts'

/** A master that Sentinels name, and its replicas. */
export interface SentinelTarget {
  /** Where the Sentinels are: `host:port` each. */
  readonly sentinels: readonly string[]
  /** The name by which the Sentinels know the master. */
  readonly masterName: string
  /** The URL of a server, but for its host and port: protocol, user and password. */
  readonly server: {
    readonly protocol: 'redis:' | 'rediss:'
    readonly user: string
    readonly password: string
  }
}

/** Where Redis is: one server, some nodes of a cluster, or a master behind Sentinels. */
export type RedisTarget =
  | { readonly url: string }
  | { readonly clusterUrls: readonly string[] }
  | (SentinelTarget & { readonly sentinelPassword: string | undefined })

const FORMS =
  'must be a URL that starts with redis:// or rediss://, or redis+sentinel://HOST:PORT,HOST:PORT/NAME (rediss+sentinel: with TLS)'

/** One server, or `redis+sentinel://user:password@host:port,host:port/name`, whose user and password are those of Redis. */
export const redisUrl: Parser<{ readonly url: string } | SentinelTarget> = text => {
  const behind = /^(rediss?)\+sentinel:\/\/(?:([^@/]*)@)?([^@/]+)\/([\w.-]+)$/.exec(text)
  if (behind) {
    const [, scheme, credentials = '', hosts = '', name = ''] = behind
    const sentinels = hosts.split(',').map(host => parsed(`${scheme}://${host}`))
    const server = parsed(`${scheme}://${credentials}@server`)
    if (!server || sentinels.some(each => each === undefined)) return { expected: FORMS }
    return {
      value: {
        sentinels: sentinels.map(each => `${each?.hostname}:${each?.port || SENTINEL_PORT}`),
        masterName: name,
        server: {
          protocol: `${scheme as 'redis' | 'rediss'}:`,
          user: server.username,
          password: server.password,
        },
      },
    }
  }
  const url = parsed(text)
  return url && ['redis:', 'rediss:'].includes(url.protocol) && !url.host.includes(',')
    ? { value: { url: text } }
    : { expected: FORMS }
}

const SENTINEL_PORT = 26379

const parsed = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined)
