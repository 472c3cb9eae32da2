import { Fault, GRACE_MS, keyDigest, malformedReply, type EpochMs } from '@gatewright/kernel'
import type { BeginResult, Ending } from './port.ts'

// A record is one string: one letter for its state (running, done, free), the fence and the deadline in 16 digits each, the
// fingerprint in 43 characters, and the response. Numbers of equal length compare as strings like they do as numbers, so the
// scripts compare them as strings. Deadlines are compared with the caller's clock. A running record has no time to live,
// because it must not vanish before its outcome is known.

/** Makes the record of a run that starts now. */
export function runningRecord(fingerprint: string, leaseUntil: EpochMs, now: EpochMs): string {
  return `r${digits(now)}${digits(leaseUntil)}${fixedFingerprint(fingerprint)}`
}

/** Makes the arguments of the END script. */
export function endArguments(
  fence: number,
  ending: Ending,
  now: EpochMs,
): [head: string, ttlMs: string, response: string] {
  if (ending.state === 'lost') return [`r${digits(fence)}${digits(0)}`, '', '']
  const { state, expiresAt } = ending
  const head = (state === 'done' ? 'd' : 'f') + digits(fence) + digits(expiresAt)
  const ttlMs = Math.max(expiresAt - now, 0) + GRACE_MS
  return [head, String(ttlMs), state === 'done' ? ending.response : '']
}

/** Whether an existing record has ended, so that the run of the new record may take the key. */
export function hasEnded(existing: unknown, newRecord: string): boolean {
  if (typeof existing !== 'string') return false
  const startsAt = newRecord.slice(1, 17)
  return existing[0] === 'f' || (existing[0] === 'd' && existing.slice(17, 33) <= startsAt)
}

/** Reads the reply of the BEGIN script, or the record that already exists. Faults for any other reply. */
export function readBeginReply(reply: unknown, fingerprint: string, now: EpochMs): BeginResult {
  if (reply === 1) return { state: 'started', fence: now }
  if (typeof reply !== 'string') throw malformedReply('redis', 'a record')
  if (reply.length === 16) return { state: 'started', fence: readInteger(reply) }
  const state = reply[0]
  if (reply.length < 76 || (state !== 'r' && state !== 'd')) throw replyFault(reply, 'a record')
  const [fence, until] = [readInteger(reply.slice(1, 17)), readInteger(reply.slice(17, 33))]
  if (reply.slice(33, 76) !== fixedFingerprint(fingerprint)) return { state: 'reused' }
  if (state === 'd') return { state: 'done', response: reply.slice(76), expiresAt: until }
  return now < until ? { state: 'running' } : { state: 'lost', fence }
}

/** Makes the fault of a reply: the error of this key in a batch, or a reply that cannot be read. */
export function replyFault(reply: unknown, expected: string): Fault {
  if (typeof reply !== 'string' || !reply.startsWith('!')) return malformedReply('redis', expected)
  return new Fault('ERR_STORE_UNAVAILABLE', 'redis failed', { cause: new Error(reply.slice(1)) })
}

/** Formats an integer in 16 digits. Throws for a fraction: its digits would not compare like the number. */
function digits(number: number): string {
  if (!Number.isSafeInteger(number) || number < 0) {
    throw new TypeError(`clocks and fences must be whole milliseconds, not ${number}`)
  }
  return String(number).padStart(16, '0')
}

function readInteger(text: string): number {
  const number = /^\d{16}$/.test(text) ? Number(text) : NaN
  if (!Number.isSafeInteger(number)) throw malformedReply('redis', 'an integer')
  return number
}

/** Returns a fingerprint of 43 characters. Those of this package have that length; others are hashed. */
const fixedFingerprint = (fingerprint: string): string =>
  fingerprint.length === 43 ? fingerprint : keyDigest(fingerprint)
