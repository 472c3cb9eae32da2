import { malformedReply, type HeaderField } from '@gatewright/kernel'
import { isStoredResponse, type StoredResponse, type StoredSpend } from './stored-response.ts'

/**
 * Encodes a response as the text that the store keeps. The first line has the status, the length of the body, and the
 * amount and currency of each spend, with `+` and an operation id for each entry of `countsAs`. Then come the name and the
 * value of each header field in lines of their own, an empty line, and the body. Most bodies are JSON, whose quotes a JSON
 * encoding would all escape. Responses that do not fit the lines, or have NUL or lone surrogates, are encoded as JSON.
 */
export function encodeResponse(response: StoredResponse): string {
  let text = `${response.status} ${response.body.length}`
  for (const { amountCents, currency, countsAs = [] } of response.spends ?? []) {
    const names = [currency, ...countsAs]
    if (!names.every(name => /^[\w.-]+$/.test(name))) return JSON.stringify(response)
    text += ` ${amountCents} ${names.join('+')}`
  }
  text += '\n'
  for (const [name, value] of response.headers) {
    if (name === '' || name.includes('\n') || value.includes('\n')) return JSON.stringify(response)
    text += `${name}\n${value}\n`
  }
  text += `\n${response.body}`
  const fits = !response.bodyOmitted && text.isWellFormed() && !text.includes('\0')
  return fits ? text : JSON.stringify(response)
}

/** Decodes a stored response. Fault: `ERR_STORE_REPLY` for any other text. */
export function decodeResponse(text: string): StoredResponse {
  try {
    const value: unknown = text.startsWith('{') ? JSON.parse(text) : decodeLines(text)
    if (isStoredResponse(value)) return value
  } catch {
    // The text has neither of the two encodings.
  }
  throw malformedReply('idempotency storage', 'a stored response')
}

function decodeLines(text: string): StoredResponse {
  let position = 0
  const nextLine = (): string => {
    const end = text.indexOf('\n', position)
    if (end < 0) throw new RangeError('the text ends before the body')
    const line = text.slice(position, end)
    position = end + 1
    return line
  }
  const [, status, length, spends] = /^(\d{3}) (\d+)((?: \d+ [\w.+-]+)*)$/.exec(nextLine()) ?? []
  const headers: HeaderField[] = []
  for (let name = nextLine(); name !== ''; name = nextLine()) headers.push([name, nextLine()])
  const body = text.slice(position)
  if (body.length !== Number(length)) throw new RangeError('the body has another length')
  const response = { status: Number(status), headers, body }
  return spends ? { spends: decodeSpends(spends), ...response } : response
}

function decodeSpends(text: string): StoredSpend[] {
  return [...text.matchAll(/ (\d+) (\S+)/g)].map(([, amount, names = '']) => {
    const [currency = '', ...countsAs] = names.split('+')
    const amountCents = Number(amount)
    return countsAs.length > 0 ? { amountCents, currency, countsAs } : { amountCents, currency }
  })
}
