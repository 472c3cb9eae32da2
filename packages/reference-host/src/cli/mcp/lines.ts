const NEWLINE = 10

/** A line of a stream, or what is wrong with it. */
export type Line = { readonly text: string } | { readonly problem: string }

/**
 * Splits a stream of UTF-8 at its newlines. A line that is longer than `maxBytes` or not UTF-8 is a problem, and the next line follows. The
 * bytes of a line that is too long are not kept.
 */
export async function* linesOf(input: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Line> {
  let parts: Uint8Array[] = []
  let length = 0
  const add = (part: Uint8Array): void => {
    length += part.length
    if (length > maxBytes) parts = []
    else parts.push(part)
  }
  const take = (): Line => {
    const line = length > maxBytes ? { problem: `longer than ${maxBytes} bytes` } : decoded(parts)
    parts = []
    length = 0
    return line
  }
  for await (const chunk of input) {
    let from = 0
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, to))
      yield take()
      from = to + 1
    }
    add(chunk.subarray(from))
  }
  if (length > 0) yield take()
}

function decoded(parts: readonly Uint8Array[]): Line {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts)) }
  } catch {
    return { problem: 'not UTF-8' }
  }
}

/**
 * Reads the data of the events of an event stream (`text/event-stream`), whose lines end with LF or CR LF. Comments, such as those that keep
 * a connection open, and other fields are skipped. Throws an `Error` for data that is longer than `maxBytes` or not UTF-8.
 */
export async function* eventDataOf(
  input: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string> {
  let data: string[] = []
  let length = 0
  for await (const line of linesOf(input, maxBytes)) {
    if ('problem' in line) throw new Error(`a line of the response is ${line.problem}`)
    const text = line.text.replace(/\r$/, '')
    if (text === '') {
      if (data.length > 0) yield data.join('\n')
      data = []
      length = 0
      continue
    }
    const [, value] = /^data(?:: ?(.*))?$/s.exec(text) ?? []
    if (!text.startsWith('data')) continue
    length += text.length
    if (length > maxBytes) throw new Error(`an event of the response is longer than ${maxBytes} bytes`)
    if (value !== undefined) data.push(value)
  }
}
