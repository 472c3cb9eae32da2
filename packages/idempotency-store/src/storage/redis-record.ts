import { Fault, GRACE_MS, keyDigest, malformedReply, type EpochMs } from '@gatewright/kernel'
import type { BeginResult, Ending, RunLabel, RunRecord } from './port.ts'

// A record is one string: one letter for its state (running, done, free); the fence, the deadline and the begin in 16 digits
// each; the fingerprint in 43 characters; the label and the decision, each after its length in 5 digits; and the response. Numbers
// of equal length compare as strings like they do as numbers, so the scripts compare them as strings. Deadlines are compared with
// the caller's clock. A running record has no time to live, because it must not vanish before its outcome is known.
const FIXED = 92

/** Makes the record of a run that starts now. */
export function runningRecord(
  fingerprint: string,
  leaseUntil: EpochMs,
  now: EpochMs,
  { operation, account }: RunLabel,
): string {
  const head = `r${digits(now)}${digits(leaseUntil)}${digits(now)}${fixedFingerprint(fingerprint)}`
  return head + measured(asciiJson([operation, account])) + measured('')
}

/** Makes the arguments of the END script. */
export function endArguments(
  fence: number,
  ending: Ending,
  now: EpochMs,
): [head: string, ttlMs: string, response: string, decision: string] {
  if (ending.state === 'lost') return [`r${digits(fence)}${digits(0)}`, '', '', '']
  const { state, expiresAt, decision } = ending
  const head = (state === 'done' ? 'd' : 'f') + digits(fence) + digits(expiresAt)
  const ttlMs = Math.max(expiresAt - now, 0) + GRACE_MS
  const decided = decision === undefined ? '' : measured(asciiJson(decision))
  return [head, String(ttlMs), state === 'done' ? ending.response : '', decided]
}

/** Reads the reply of the BEGIN script. Faults for a reply that is neither a start nor a record. */
export function readBeginReply(reply: unknown, fingerprint: string, now: EpochMs): BeginResult {
  if (reply === 1) return { state: 'started', fence: now }
  if (typeof reply !== 'string') throw malformedReply('redis', 'a record')
  if (reply.length === 16) return { state: 'started', fence: readInteger(reply) }
  const state = reply[0]
  if (state !== 'r' && state !== 'd') throw replyFault(reply, 'a record')
  const { rest } = readTexts(reply)
  const [fence, until] = [readInteger(reply.slice(1, 17)), readInteger(reply.slice(17, 33))]
  if (reply.slice(49, FIXED) !== fixedFingerprint(fingerprint)) return { state: 'reused' }
  if (state === 'd') return { state: 'done', response: rest, expiresAt: until }
  return now < until ? { state: 'running' } : { state: 'lost', fence }
}

const STATES: Readonly<Record<string, RunRecord['state']>> = { r: 'running', d: 'done', f: 'free' }

/** Reads a whole record, without its response. */
export function readRecord(key: string, text: unknown): RunRecord {
  if (typeof text !== 'string') throw malformedReply('redis', 'a record')
  const state = STATES[text.slice(0, 1)]
  if (!state) throw replyFault(text, 'a record')
  const { label, decision } = readTexts(text)
  return {
    key,
    fingerprint: text.slice(49, FIXED),
    fence: readInteger(text.slice(1, 17)),
    ...readLabel(label),
    beganAt: readInteger(text.slice(33, 49)),
    state,
    until: readInteger(text.slice(17, 33)),
    decision: decision === '' ? null : readText(readJson(decision)),
  }
}

/** Makes the fault of a reply: the error of this key in a batch, or a reply that cannot be read. */
export function replyFault(reply: unknown, expected: string): Fault {
  if (typeof reply !== 'string' || !reply.startsWith('!')) return malformedReply('redis', expected)
  return new Fault('ERR_STORE_UNAVAILABLE', 'redis failed', { cause: new Error(reply.slice(1)) })
}

/** Formats an integer in 16 digits. Throws for a fraction: its digits would not compare like the number. */
export function digits(number: number): string {
  if (!Number.isSafeInteger(number) || number < 0) {
    throw new TypeError(`clocks and fences must be whole milliseconds, not ${number}`)
  }
  return String(number).padStart(16, '0')
}

/** Reads an integer of 16 digits. */
export function readInteger(text: string): number {
  const number = /^\d{16}$/.test(text) ? Number(text) : NaN
  if (!Number.isSafeInteger(number)) throw malformedReply('redis', 'an integer')
  return number
}

/** Encodes a value in ASCII, so that its length is the same for the scripts, which count bytes. */
const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const measured = (text: string): string => String(text.length).padStart(5, '0') + text

/** Splits what follows the fixed part of a record. Fault: `ERR_STORE_REPLY` for a text that is too short. */
function readTexts(record: string): {
  readonly label: string
  readonly decision: string
  readonly rest: string
} {
  const [label, afterLabel] = readMeasured(record, FIXED)
  const [decision, end] = readMeasured(record, afterLabel)
  return { label, decision, rest: record.slice(end) }
}

function readMeasured(record: string, at: number): [text: string, end: number] {
  const length = /^\d{5}$/.exec(record.slice(at, at + 5))
  const end = at + 5 + Number(length?.[0])
  if (!length || record.length < end) throw malformedReply('redis', 'a record')
  return [record.slice(at + 5, end), end]
}

function readLabel(text: string): RunLabel {
  const label = readJson(text)
  if (!Array.isArray(label)) throw malformedReply('redis', 'a label')
  return { operation: readText(label[0]), account: readText(label[1]) }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformedReply('redis', 'JSON')
  }
}

function readText(value: unknown): string {
  if (typeof value !== 'string') throw malformedReply('redis', 'a text')
  return value
}

/** Returns a fingerprint of 43 characters. Those of this package have that length; others are hashed. */
const fixedFingerprint = (fingerprint: string): string =>
  fingerprint.length === 43 ? fingerprint : keyDigest(fingerprint)
