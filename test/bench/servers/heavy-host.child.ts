// A host with its usual rate limits that counts its own memory. Its users are the neighbours of those who send much.
import { extent } from '../extent.ts'
import { startBenchHost } from '../bench-host.ts'

/** What the process has used. */
export interface Usage {
  /** CPU since its start, in microseconds. */
  readonly cpuMicros: number
  /** Resident set now, and the most since it was asked the last time, in bytes. */
  readonly rss: number
  readonly mostRss: number
}

/** Said once it listens. */
export interface HostAddress {
  readonly url: string
  /** Session tokens of the neighbours. */
  readonly tokens: readonly string[]
}

const [env = '{}'] = process.argv.slice(2)
const stores = JSON.parse(env) as Record<string, string>
// Each client has an address of its own, which it names.
const settings = { RATE_LIMITS: '{}', TRUST_PROXY: '127.0.0.0/8', ...stores }
const { host, users } = await startBenchHost(settings, extent(5, 2))

let mostRss = 0
setInterval(() => (mostRss = Math.max(mostRss, process.memoryUsage.rss())), 50)
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  const rss = process.memoryUsage.rss()
  const usage: Usage = { cpuMicros: user + system, rss, mostRss: Math.max(mostRss, rss) }
  mostRss = 0
  process.send?.(usage)
})
process.once('disconnect', () => process.exit())
process.send?.({ url: host.url, tokens: users.map(({ token }) => token) } satisfies HostAddress)
