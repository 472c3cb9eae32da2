import { malformedReply, type EpochMs } from '@gatewright/kernel'

/** Money that a run has reserved, in the currency that it was asked for in. */
export interface StoredSpend {
  /** Minor units of the currency, a safe integer of at least 0. */
  readonly amountCents: number
  readonly currency: string
  /** Other operations whose limits bound it, by their ids. */
  readonly countsAs?: readonly string[]
}

/** An HTTP answer as plain data: what a handler made, before field twins and other rendering. */
export interface StoredAnswer {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
  /** The body was larger than `maxAnswerBytes` and was not kept: `body` is empty, the rest is real. */
  readonly bodyOmitted?: true
  /**
   * What the run has reserved: kept with the answer and handed out with it, for the limits of whoever asks again. It is the
   * server's own record: it is never sent, and no part of what makes two requests equal.
   */
  readonly spends?: readonly StoredSpend[]
}

/**
 * What an answer's status says about the effect.
 * `final`: it is decided, keep the answer. `refused`: nothing happened, the key is free again. `unknown`: the
 * effect may have begun.
 */
export type AnswerClass = 'final' | 'refused' | 'unknown'

/**
 * Client errors that are raised before any effect: syntax and validation (400, 405, 406, 411, 413, 414, 415,
 * 416, 417, 422, 428, 431), authentication and authorisation (401, 403, 407, 511) and "try again" (408, 421,
 * 425, 426, 429). Every other 4xx is definitive (402 declined, 404, 409, 410, 412 ...) and is kept.
 */
const REFUSED = new Set([
  400, 401, 403, 405, 406, 407, 408, 411, 413, 414, 415, 416, 417, 421, 422, 425, 426, 428, 429, 431, 511,
])

/** Sorts an answer by its status: 2xx, 3xx and definitive 4xx are final, 5xx and the rest unknown. */
export function classify(status: number): AnswerClass {
  if (REFUSED.has(status)) return 'refused'
  return status >= 200 && status < 500 ? 'final' : 'unknown'
}

/** Header fields of `recordHeaders`, for `Access-Control-Expose-Headers`. */
export const recordHeaderNames: readonly string[] = ['Idempotency-Replayed', 'Idempotency-Expires']

/**
 * Header fields that tell the client about the record: `Idempotency-Replayed: true` on an earlier answer, and
 * `Idempotency-Expires`, the HTTP date until which the same key gets this answer, on one that is kept.
 */
export function recordHeaders(record: {
  readonly replayed: boolean
  readonly expiresAt: EpochMs | null
}): [name: string, value: string][] {
  const headers: [string, string][] = record.replayed ? [['Idempotency-Replayed', 'true']] : []
  if (record.expiresAt !== null) {
    headers.push(['Idempotency-Expires', new Date(record.expiresAt).toUTCString()])
  }
  return headers
}

/** What is kept of an answer. */
export interface KeepOptions {
  /** Lower-case names of the header fields that are kept. */
  readonly storedHeaders: ReadonlySet<string>
  /** Largest body kept, in UTF-8 bytes. */
  readonly maxAnswerBytes: number
}

/**
 * The answer as it is replayed: allowed header fields only, and no body that is over the cap. Throws a `TypeError` for
 * spends of the wrong shape: an answer that cannot be read back would never be replayed.
 */
export function keep(answer: StoredAnswer, options: KeepOptions): StoredAnswer {
  const { spends } = answer
  if (spends === undefined || spends.length === 0) return keepAnswer(answer, options)
  if (!areSpends(spends)) throw new TypeError('spends must be a list of { amountCents, currency, countsAs? }')
  const kept = spends.map(({ amountCents, currency, countsAs }) => ({
    ...{ amountCents, currency },
    ...(countsAs && countsAs.length > 0 ? { countsAs } : {}),
  }))
  return { spends: kept, ...keepAnswer(answer, options) }
}

function keepAnswer(answer: StoredAnswer, options: KeepOptions): StoredAnswer {
  const headers = answer.headers.filter(field => options.storedHeaders.has(field[0].toLowerCase()))
  // No character has more than three bytes.
  const fits =
    3 * answer.body.length <= options.maxAnswerBytes ||
    Buffer.byteLength(answer.body) <= options.maxAnswerBytes
  if (fits) {
    return { status: answer.status, headers, body: answer.body }
  }
  return { status: answer.status, headers, body: '', bodyOmitted: true }
}

/**
 * Writes an answer as the text that storage keeps: in lines the status, the body's length and each spend's amount and
 * currency (with a `+` before each operation that it also counts as), then each field's name and value, an empty one, and the body. A body is JSON itself as a rule, and JSON would
 * escape all its quotes. What lines cannot hold, and NUL and lone surrogates, which stores refuse, become JSON all the same.
 */
export function encode(answer: StoredAnswer): string {
  let text = `${answer.status} ${answer.body.length}`
  for (const { amountCents, currency, countsAs = [] } of answer.spends ?? NO_SPENDS) {
    const names = [currency, ...countsAs]
    if (!names.every(name => /^[\w.-]+$/.test(name))) return JSON.stringify(answer)
    text += ` ${amountCents} ${names.join('+')}`
  }
  text += '\n'
  for (const [name, value] of answer.headers) {
    if (name === '' || name.includes('\n') || value.includes('\n')) return JSON.stringify(answer)
    text += `${name}\n${value}\n`
  }
  text += `\n${answer.body}`
  const fits = !answer.bodyOmitted && text.isWellFormed() && !text.includes('\0')
  return fits ? text : JSON.stringify(answer)
}

const NO_SPENDS: readonly StoredSpend[] = []

/** Reads it back. Fault: `ERR_STORE_REPLY`. */
export function decode(text: string): StoredAnswer {
  try {
    const value: unknown = text.startsWith('{') ? JSON.parse(text) : inLines(text)
    if (isAnswer(value)) return value
  } catch {
    // Neither lines nor JSON.
  }
  throw malformedReply('idempotency storage', 'an answer')
}

function inLines(text: string): StoredAnswer {
  let from = 0
  const line = (): string => {
    const to = text.indexOf('\n', from)
    if (to < 0) throw new RangeError('no line is left')
    const read = text.slice(from, to)
    from = to + 1
    return read
  }
  const [, status, length, spent] = /^(\d{3}) (\d+)((?: \d+ [\w.+-]+)*)$/.exec(line()) ?? []
  const headers: [string, string][] = []
  for (let name = line(); name !== ''; name = line()) headers.push([name, line()])
  const body = text.slice(from)
  if (body.length !== Number(length)) throw new RangeError('the body was cut')
  const answer = { status: Number(status), headers, body }
  return spent ? { spends: spendsIn(spent), ...answer } : answer
}

function spendsIn(text: string): StoredSpend[] {
  const parts = text.slice(1).split(' ')
  return parts.flatMap((part, index) =>
    index % 2 === 0 ? [spendOf(Number(part), parts[index + 1] as string)] : [],
  )
}

function spendOf(amountCents: number, names: string): StoredSpend {
  const [currency = '', ...countsAs] = names.split('+')
  return countsAs.length > 0 ? { amountCents, currency, countsAs } : { amountCents, currency }
}

/** Whether a value has the shape of an answer. */
export function isAnswer(value: unknown): value is StoredAnswer {
  const { status, headers, body, spends } = (value ?? {}) as Partial<StoredAnswer>
  if (spends !== undefined && !areSpends(spends)) return false
  if (!Number.isInteger(status) || typeof body !== 'string' || !Array.isArray(headers)) return false
  return headers.every(pair => {
    const [name, text, ...rest] = Array.isArray(pair) ? (pair as unknown[]) : []
    return typeof name === 'string' && typeof text === 'string' && rest.length === 0
  })
}

function areSpends(value: unknown): value is readonly StoredSpend[] {
  if (!Array.isArray(value)) return false
  return value.every(each => {
    const { amountCents, currency, countsAs = [] } = (each ?? {}) as Partial<StoredSpend>
    if (!Array.isArray(countsAs) || !countsAs.every(name => typeof name === 'string')) return false
    return Number.isSafeInteger(amountCents) && (amountCents as number) >= 0 && typeof currency === 'string'
  })
}
