// Wallets with the heaviest documents that a host accepts, each of which sends as much as its rate limits allow.
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { newWallet, signedBootstrap } from '../../harness/host.ts'
import { heavyPayin, heavyPolicy, type Weight } from '../heavy-documents.ts'

/** The settings of this process. */
export interface Setting {
  readonly url: string
  readonly callers: number
  readonly weight: Weight
  /** Whether one byte more of a policy or pay-in must be denied. */
  readonly heaviest: boolean
}

/** How often each kind of request got each status: `payin 200`. */
export type Statuses = Readonly<Record<string, number>>

/** Requests of one caller in a second: 600 a minute by its key, of them 120 writes and 60 mints. */
const SECOND = ['mint', 'read', 'payin', 'read', 'read new', 'read', 'payin', 'read', 'list', 'read'] as const
type Kind = (typeof SECOND)[number]
/** What both halves of a chain count: at most 32 counters for a call. */
const COUNTED = [
  ['balances.read', 'keys.list'],
  ['subscriptions.payin', 'sessions.create'],
] as const
/** The most requests of a caller at once: what is due beyond them is not sent, or an overloaded host would never be done. */
const MAX_UNDER_WAY = 10
/** Sessions of a caller that read in turn. */
const SESSIONS = 60

const setting = JSON.parse(process.argv[2] as string) as Setting
const { url, weight } = setting
const agent = new Agent({ keepAlive: true, maxSockets: 400 })

interface Reply {
  readonly status: number
  readonly body: string
}

interface RequestParts {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

class Caller {
  readonly #address: string
  /** The session that mints and lists, whose chain is that of the key. */
  #parent = ''
  readonly #tokens: string[] = []
  #next = 0
  underWay = 0

  constructor(index: number) {
    this.#address = `198.51.100.${index}`
  }

  /** Signs in, and makes keys and sessions as deep as the weight says. */
  async setUp(): Promise<void> {
    const { keyPolicies, sessionPolicies, keysBelow } = weight
    const depth = keyPolicies + sessionPolicies
    const policyAt = (level: number): object => heavyPolicy(weight, COUNTED[2 * level < depth ? 0 : 1])
    const first = await signedBootstrap(newWallet(), { policy: policyAt(0), sessionTtlSeconds: 86_400 })
    this.#parent = (await this.#made('/user/v1/bootstrap', first))['sessionToken'] as string
    if (setting.heaviest) await this.#checkBounds()
    for (let level = 1; level < keyPolicies; level++) {
      const key = (await this.#made('/user/v1/keys', { policy: policyAt(level) }))['userApiKey'] as string
      const { status, body } = await this.#send('/user/v1/sessions', {
        body: { ttlSeconds: 86_400 },
        headers: { 'x-user-key': key },
      })
      if (status !== 200) throw new Error(`a session of a key got ${status}: ${body}`)
      this.#parent = dataOf(body)['sessionToken'] as string
    }
    for (let n = 0; n < keysBelow; n++)
      await this.#made('/user/v1/keys', { policy: heavyPolicy(weight, COUNTED[1]) })
    for (let level = keyPolicies; level < depth - 1; level++) {
      const body = { ttlSeconds: 86_400, policy: policyAt(level) }
      this.#parent = (await this.#made('/user/v1/sessions', body))['sessionToken'] as string
    }
    const { status, body } = await this.run('mint')
    if (status !== 200) throw new Error(`a session got ${status}: ${body}`)
  }

  /** Sends one request of the mix. */
  async run(kind: Kind): Promise<Reply> {
    if (kind === 'list') return this.#send('/user/v1/keys', bearer(this.#parent))
    if (kind === 'mint') {
      const body = { ttlSeconds: 86_400, policy: heavyPolicy(weight, COUNTED[1]) }
      const reply = await this.#send('/user/v1/sessions', { ...bearer(this.#parent), body })
      if (reply.status === 200) this.#tokens.unshift(dataOf(reply.body)['sessionToken'] as string)
      this.#tokens.splice(SESSIONS)
      return reply
    }
    const newest = this.#tokens[0] as string
    const token = this.#tokens[this.#next++ % this.#tokens.length] as string
    if (kind !== 'payin') return this.#send('/user/v1/balances', bearer(kind === 'read' ? token : newest))
    return this.#payin(token, weight.payinBytes)
  }

  #payin(token: string, bytes: number): Promise<Reply> {
    const headers = { ...bearer(token).headers, 'idempotency-key': randomUUID() }
    return this.#send('/user/v1/subscriptions/payin', { headers, body: heavyPayin(bytes) })
  }

  /** Insists that nothing heavier is accepted: else this would measure less than the heaviest. */
  async #checkBounds(): Promise<void> {
    const { policyBytes, limits, payinBytes } = weight
    const heavier = [
      { policyBytes: policyBytes + 1, limits },
      { policyBytes, limits: limits + 1 },
    ]
    const { headers } = bearer(this.#parent)
    const replies = heavier.map(each =>
      this.#send('/user/v1/keys', { headers, body: { policy: heavyPolicy(each, COUNTED[0]) } }),
    )
    replies.push(this.#payin(this.#parent, payinBytes + 1))
    for (const { status, body } of await Promise.all(replies))
      if (status !== 400) throw new Error(`a heavier document got ${status}: ${body}`)
  }

  async #made(path: string, body: object): Promise<Record<string, unknown>> {
    const headers = this.#parent === '' ? {} : bearer(this.#parent).headers
    const reply = await this.#send(path, { headers, body })
    if (reply.status !== 200) throw new Error(`${path} returned ${reply.status}: ${reply.body}`)
    return dataOf(reply.body)
  }

  #send(path: string, { headers, body }: RequestParts): Promise<Reply> {
    const sent = { 'x-forwarded-for': this.#address, 'content-type': 'application/json', ...headers }
    return new Promise((resolve, reject) => {
      request(url + path, { method: body ? 'POST' : 'GET', agent, headers: sent }, reply => {
        text(reply).then(body => resolve({ status: reply.statusCode as number, body }), reject)
      })
        .once('error', reject)
        .end(body && JSON.stringify(body))
    })
  }
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const dataOf = (body: string): Record<string, unknown> =>
  (JSON.parse(body) as { data: Record<string, unknown> }).data

const callers = Array.from({ length: setting.callers }, (_, index) => new Caller(index + 1))
await Promise.all(callers.map(caller => caller.setUp()))

let statuses: Record<string, number> = {}
let timer: NodeJS.Timeout | undefined
const underWay = new Set<Promise<unknown>>()

function count(result: string): void {
  statuses[result] = (statuses[result] ?? 0) + 1
}

function track(caller: Caller, kind: Kind): void {
  caller.underWay++
  const reply = caller.run(kind).then(
    ({ status }) => count(`${kind} ${status}`),
    () => count(`${kind} broken`),
  )
  underWay.add(reply)
  void reply.then(() => {
    caller.underWay--
    underWay.delete(reply)
  })
}

/** Sends what each caller has to send by now. */
function start(): void {
  const started = performance.now()
  const sent = callers.map(() => 0)
  timer = setInterval(() => {
    const seconds = (performance.now() - started) / 1000
    for (const [index, caller] of callers.entries()) {
      // Spread over the second, so that the callers do not send all at once.
      const due = Math.floor(seconds * SECOND.length + index / callers.length)
      for (; (sent[index] as number) < due; sent[index] = (sent[index] as number) + 1) {
        const kind = SECOND[(sent[index] as number) % SECOND.length] as Kind
        if (caller.underWay >= MAX_UNDER_WAY) count('not sent')
        else track(caller, kind)
      }
    }
  }, 10)
}

/** Stops, waits for the responses, and reports the status of all. */
async function stop(): Promise<void> {
  clearInterval(timer)
  await Promise.all(underWay)
  process.send?.(statuses satisfies Statuses)
  statuses = {}
}

process.on('message', what => void (what === 'start' ? start() : stop()))
process.once('disconnect', () => process.exit())
process.send?.('ready')
