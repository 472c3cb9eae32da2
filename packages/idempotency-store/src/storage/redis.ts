import { Fault, GRACE_MS, keyDigest, malformedReply, type EpochMs } from '@gatewright/kernel'
import {
  redisScript,
  runScript,
  runScriptOn,
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
 * Both scripts take many keys. What goes wrong with one of them is its own reply, `!` and the reason.
 */
const overKeys = (one: string): string => `${one}
local replies = {}
for i, key in ipairs(KEYS) do
  local ran, reply = pcall(one, key, i)
  replies[i] = ran and reply or '!' .. (type(reply) == 'table' and reply.err or reply)
end
return replies`

/**
 * ARGV[i] the record of a run by KEYS[i] that starts now. Answers 1 for a new key, the larger fence for one
 * that is taken over, and the record of one that is held.
 */
const BEGIN = redisScript(
  overKeys(`
local function one(key, i)
  local record = ARGV[i]
  if redis.call('SET', key, record, 'NX') then return 1 end
  local held, now = redis.call('GET', key), string.sub(record, 2, 17)
  local state, fence = string.sub(held, 1, 1), string.sub(held, 2, 17)
  if state ~= 'f' and (state ~= 'd' or now < string.sub(held, 18, 33)) then return held end
  local larger = fence < now and now or string.format('%016.0f', tonumber(fence) + 1)
  redis.call('SET', key, 'r' .. larger .. string.sub(record, 18))
  return larger
end`),
)

/** For each key three arguments: what comes before the fingerprint, the PX or nothing, the answer. */
const END = redisScript(
  overKeys(`
local function one(key, i)
  local head, px, answer = ARGV[3 * i - 2], ARGV[3 * i - 1], ARGV[3 * i]
  local held = redis.call('GET', key)
  if not held or string.sub(held, 2, 17) ~= string.sub(head, 2, 17) then return 0 end
  if string.sub(held, 1, 1) ~= 'r' then
    return string.sub(held, 1, 1) == string.sub(head, 1, 1) and string.sub(held, 77) == answer and 1 or 0
  end
  local ended = head .. string.sub(held, 34, 76) .. answer
  if px == '' then redis.call('SET', key, ended) else redis.call('SET', key, ended, 'PX', px) end
  return 1
end`),
)

/** Options of `redisStorage`. */
export interface RedisStorageOptions {
  /** Prefix of every key. Default `gw:idempotency:`. */
  readonly prefix?: string
}

/** Most keys in one command: the server serves nobody else meanwhile. */
const MOST_TOGETHER = 64
/** Of a longer answer the sending is the cost, and many of them would hold the server up. */
const LONGEST_TOGETHER = 16_384

const digits = (number: number): string => String(number).padStart(16, '0')

function integer(text: string): number {
  const number = /^\d{16}$/.test(text) ? Number(text) : NaN
  if (!Number.isSafeInteger(number)) throw malformedReply('redis', 'an integer')
  return number
}

/** A fingerprint in its place of 43 characters; `identify` makes no other. */
const inPlace = (fingerprint: string): string =>
  /^[\w-]{43}$/.test(fingerprint) ? fingerprint : keyDigest(fingerprint)

/** The fault in a reply: what went wrong with this key, or a reply that is none of ours. */
function unreadable(reply: unknown, expected: string): Fault {
  if (typeof reply !== 'string' || !reply.startsWith('!')) return malformedReply('redis', expected)
  return new Fault('ERR_STORE_UNAVAILABLE', 'redis failed', { cause: new Error(reply.slice(1)) })
}

function readBegun(reply: unknown, fingerprint: string, now: EpochMs): Begun {
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

async function runAlone(client: RedisClient, script: RedisScript, { key, args }: KeyCall): Promise<unknown> {
  const replies = await runScript(client, script, key, args)
  if (!Array.isArray(replies) || replies.length !== 1) throw malformedReply('redis', 'one reply')
  return replies[0]
}

const isCrossSlot = (error: unknown): boolean =>
  error instanceof Fault && error.cause instanceof Error && error.cause.message.startsWith('CROSSSLOT')

async function runTogether(
  client: RedisClient,
  script: RedisScript,
  calls: readonly KeyCall[],
): Promise<readonly unknown[]> {
  const [keys, args] = [calls.map(({ key }) => key), calls.flatMap(call => call.args)]
  try {
    const replies = await runScriptOn(client, script, keys, args)
    if (!Array.isArray(replies) || replies.length !== keys.length) throw malformedReply('redis', 'replies')
    return replies
  } catch (error) {
    if (!isCrossSlot(error)) throw error
    // Refused before anything ran: behind the client there is a cluster after all.
    return Promise.all(calls.map(call => runAlone(client, script, call)))
  }
}

/**
 * The record in Redis: one round trip a verb, and calls of one turn of the event loop share it. Redis must run with `maxmemory-policy
 * noeviction` and keep its data over a restart. A failover to a replica that lags can forget a begin or an
 * answer that was acknowledged, and a retry then runs again, with the same `effectId` and a larger fence: use it
 * where whoever makes the effect checks one of them. See docs/idempotency.md.
 */
export function redisStorage(client: RedisClient, options: RedisStorageOptions = {}): IdempotencyStorage {
  const { prefix = 'gw:idempotency:' } = options
  const send = (script: RedisScript) => {
    const alone = (call: KeyCall): Promise<unknown> => runAlone(client, script, call)
    const together = gather(MOST_TOGETHER, alone, calls => runTogether(client, script, calls))
    return { alone, together: client.single ? together : alone }
  }
  const [begin, end] = [send(BEGIN), send(END)]
  return {
    async begin(key, fingerprint, leaseUntil, now) {
      const held = inPlace(fingerprint)
      const record = `r${digits(now)}${digits(leaseUntil)}${held}`
      const reply = await begin.together({ key: prefix + keyDigest(key), args: [record] })
      return reply === 1 ? { state: 'started', fence: now } : readBegun(reply, held, now)
    },
    async end(key, fence, ending, now) {
      const args = endArguments(fence, ending, now)
      const run = args[2].length > LONGEST_TOGETHER ? end.alone : end.together
      const reply = await run({ key: prefix + keyDigest(key), args })
      if (reply !== 0 && reply !== 1) throw unreadable(reply, '0 or 1')
      return reply === 1
    },
    collect: async () => 0,
  }
}
