import {
  Fault,
  GRACE_MS,
  keyDigest,
  knownOptions,
  malformedReply,
  toFault,
  type EpochMs,
  type OptionNames,
} from '@gatewright/kernel'
import {
  redisScript,
  runScript,
  runScriptOnKeys,
  type RedisClient,
  type RedisScript,
} from '@gatewright/kernel/redis'
import { gather } from './gather.ts'
import type { Begun, Ending, IdempotencyStorage } from './port.ts'

/**
 * A record is one string of fixed places: its state in one letter (running, done, free), the fence and the
 * deadline in 16 digits each, the fingerprint in 43 characters, the answer. Digits of one length compare like
 * the numbers they spell. Deadlines are compared with the caller's clock. A running record has no time to live:
 * it must not vanish before somebody has decided.
 *
 * Each verb has a script for one key and one for many. Of many, what goes wrong with one is its own reply, `!` and
 * the reason.
 */
interface Scripts {
  readonly one: RedisScript
  readonly many: RedisScript
}

/** Both scripts of a verb, from what it does with `key`, the `i`th. */
const scripts = (body: string): Scripts => ({
  one: redisScript(`local sub, call, key, i = string.sub, redis.call, KEYS[1], 1${body}`),
  many: redisScript(`
local sub, call = string.sub, redis.call
local function one(key, i)${body}end
local replies = {}
for i, key in ipairs(KEYS) do
  local ran, reply = pcall(one, key, i)
  replies[i] = ran and reply or '!' .. (type(reply) == 'table' and reply.err or reply)
end
return replies`),
})

/**
 * ARGV[i] the record of a run by KEYS[i] that starts now. Answers 1 for a new key, the larger fence for one
 * that is taken over, and the record of one that is held.
 */
const BEGIN = scripts(`
  local record = ARGV[i]
  if call('SET', key, record, 'NX') then return 1 end
  local held, now = call('GET', key), sub(record, 2, 17)
  local state, fence = sub(held, 1, 1), sub(held, 2, 17)
  if state ~= 'f' and (state ~= 'd' or now < sub(held, 18, 33)) then return held end
  local larger = fence < now and now or string.format('%016.0f', tonumber(fence) + 1)
  call('SET', key, 'r' .. larger .. sub(record, 18))
  return larger
`)

/** For each key three arguments: what comes before the fingerprint, the PX or nothing, the answer. */
const END = scripts(`
  local held, head, px, answer = call('GET', key), ARGV[3 * i - 2], ARGV[3 * i - 1], ARGV[3 * i]
  if not held then return 0 end
  if sub(held, 1, 17) ~= 'r' .. sub(head, 2, 17) then
    return sub(held, 1, 17) == sub(head, 1, 17) and sub(held, 77) == answer and 1 or 0
  end
  local ended = head .. sub(held, 34, 76) .. answer
  if px == '' then call('SET', key, ended) else call('SET', key, ended, 'PX', px) end
  return 1
`)

/** Options of `redisStorage`. */
export interface RedisStorageOptions {
  /** Prefix of every key. Default `gw:idempotency:`. */
  readonly prefix?: string
}

const OPTIONS: OptionNames<RedisStorageOptions> = { prefix: true }

/** Most keys in one command: the server serves nobody else meanwhile. */
const MOST_TOGETHER = 32
/** Of a longer answer the sending is the cost, and many of them would hold the server up. */
const LONGEST_TOGETHER = 16_384

/** A number in 16 places. A fraction would not compare like the number it spells, and a done key could run again. */
function digits(number: number): string {
  if (!Number.isSafeInteger(number) || number < 0) {
    throw new TypeError(`a clock and a fence give whole milliseconds, not ${number}`)
  }
  // Any time of these centuries has 13 digits.
  return number >= 1e12 && number < 1e13 ? `000${number}` : String(number).padStart(16, '0')
}

function integer(text: string): number {
  const number = /^\d{16}$/.test(text) ? Number(text) : NaN
  if (!Number.isSafeInteger(number)) throw malformedReply('redis', 'an integer')
  return number
}

/** A fingerprint in its place of 43 characters; `identify` makes no other. */
const inPlace = (fingerprint: string): string =>
  fingerprint.length === 43 ? fingerprint : keyDigest(fingerprint)

/** The fault in a reply: what went wrong with this key, or a reply that is none of ours. */
function unreadable(reply: unknown, expected: string): Fault {
  if (typeof reply !== 'string' || !reply.startsWith('!')) return malformedReply('redis', expected)
  return new Fault('ERR_STORE_UNAVAILABLE', 'redis failed', { cause: new Error(reply.slice(1)) })
}

function readBegun(reply: unknown, fingerprint: string, now: EpochMs): Begun {
  if (reply === 1) return { state: 'started', fence: now }
  if (typeof reply !== 'string') throw malformedReply('redis', 'a record')
  if (reply.length === 16) return { state: 'started', fence: integer(reply) }
  const state = reply[0]
  if (reply.length < 76 || (state !== 'r' && state !== 'd')) throw unreadable(reply, 'a record')
  const [fence, until] = [integer(reply.slice(1, 17)), integer(reply.slice(17, 33))]
  if (reply.slice(33, 76) !== fingerprint) return { state: 'reused' }
  if (state === 'd') return { state: 'done', answer: reply.slice(76), expiresAt: until }
  return now < until ? { state: 'running' } : { state: 'lost', fence }
}

function endArguments(
  fence: number,
  ending: Ending,
  now: EpochMs,
): [head: string, px: string, answer: string] {
  if (ending.state === 'lost') return [`r${digits(fence)}${digits(0)}`, '', '']
  const { state, expiresAt } = ending
  const lifetimeMs = Math.max(expiresAt - now, 0) + GRACE_MS
  const head = (state === 'done' ? 'd' : 'f') + digits(fence) + digits(expiresAt)
  return [head, String(lifetimeMs), state === 'done' ? ending.answer : '']
}

/** One key of a command, and the arguments it comes with. */
interface KeyCall {
  readonly key: string
  readonly args: readonly string[]
}

/** Whether a record that is held may be taken over by one that starts. */
const isOver = (held: unknown, record: string): boolean =>
  typeof held === 'string' &&
  (held[0] === 'f' || (held[0] === 'd' && held.slice(17, 33) <= record.slice(1, 17)))

/** A server before Redis 7.0 does not know NX and GET together. Nothing ran. */
const isTooOld = (error: unknown): boolean => error instanceof Error && error.message.startsWith('ERR syntax')

const isCrossSlot = (error: unknown): boolean =>
  error instanceof Fault && error.cause instanceof Error && error.cause.message.startsWith('CROSSSLOT')

/** In place of `null`, which no script of ours answers: it is what a plain SET says to a new key. */
const NO_REPLY = ''

async function runTogether(
  client: RedisClient,
  { one, many }: Scripts,
  calls: readonly KeyCall[],
): Promise<readonly unknown[]> {
  const [keys, args] = [calls.map(({ key }) => key), calls.flatMap(call => call.args)]
  try {
    const replies = await runScriptOnKeys(client, many, keys, args)
    if (!Array.isArray(replies) || replies.length !== keys.length) throw malformedReply('redis', 'replies')
    return replies.map((reply: unknown) => reply ?? NO_REPLY)
  } catch (error) {
    if (!isCrossSlot(error)) throw error
    // Refused before anything ran: behind the client there is a cluster after all. Each answers for itself.
    return calls.map(async ({ key, args }) => (await runScript(client, one, key, args)) ?? NO_REPLY)
  }
}

/**
 * The record in Redis: one round trip a verb, two for a begin that takes a key over (and for every one before
 * Redis 7.0); simultaneous calls share them. Redis must run with `maxmemory-policy noeviction` and keep its
 * data over a restart. A failover to a replica that lags can forget a begin or an answer that was acknowledged,
 * and a retry then runs again, with the same `effectId` and a larger fence: use it where whoever makes the effect
 * checks one of them. See docs/idempotency.md.
 */
export function redisStorage(client: RedisClient, options: RedisStorageOptions = {}): IdempotencyStorage {
  const { prefix = 'gw:idempotency:' } = knownOptions('redisStorage', options, OPTIONS)
  const gathered = (verb: Scripts, alone: (call: KeyCall) => Promise<unknown>) =>
    client.standalone
      ? gather(MOST_TOGETHER, { alone, together: calls => runTogether(client, verb, calls) })
      : alone
  // A begin on its own needs no script: only one that takes a key over runs it, and that asks again.
  const beginAlone = ({ key, args: [record = ''] }: KeyCall): Promise<unknown> =>
    client.run(key, ['SET', key, record, 'NX', 'GET'])
  const endAlone = ({ key, args }: KeyCall): Promise<unknown> => runScript(client, END.one, key, args)
  const begin = gathered(BEGIN, beginAlone)
  const end = gathered(END, endAlone)
  return {
    async begin(key, fingerprint, leaseUntil, now) {
      const held = inPlace(fingerprint)
      const record = `r${digits(now)}${digits(leaseUntil)}${held}`
      const call = { key: prefix + key, args: [record] }
      try {
        const reply = await begin(call)
        // Only a plain SET answers so.
        if (reply === null) return { state: 'started', fence: now }
        if (!isOver(reply, record)) return readBegun(reply, held, now)
      } catch (error) {
        if (!isTooOld(error)) throw toFault('redis', error)
      }
      return readBegun(await runScript(client, BEGIN.one, call.key, call.args), held, now)
    },
    async end(key, fence, ending, now) {
      const args = endArguments(fence, ending, now)
      const run = args[2].length > LONGEST_TOGETHER ? endAlone : end
      const reply = await run({ key: prefix + key, args })
      if (reply !== 0 && reply !== 1) throw unreadable(reply, '0 or 1')
      return reply === 1
    },
    collect: async () => 0,
  }
}
