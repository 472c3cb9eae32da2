import type { Socket } from 'node:net'

/** One message between a command and the host that runs it: a JSON object in a line. */
export type Message = Readonly<Record<string, unknown>>

/** The most characters of a line that a host reads: arguments are short. What a host sends, such as a list, has no limit. */
const MAX_LINE = 65_536

/** Writes a message. Nothing happens if the other side has gone. */
export function send(socket: Socket, message: Message): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`)
}

/** Reads messages in their order. */
export interface Messages {
  /**
   * Resolves to the next message; undefined: the other side has gone, or sent what is no message. With `ms` also if none came within that time, and
   * for a line longer than 64 KiB.
   */
  next(ms?: number): Promise<Message | undefined>
}

/** Makes the reader of a socket. It takes the `data` of the socket from now on. */
export function messages(socket: Socket): Messages {
  const lines: string[] = []
  const side = { hasEnded: false }
  let [rest, most] = ['', MAX_LINE]
  let wake = (): void => {}
  socket.setEncoding('utf8')
  socket.on('data', (chunk: string) => {
    rest += chunk
    const parts = rest.split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
    if ([rest, ...parts].some(each => each.length > most)) socket.destroy()
    wake()
  })
  const end = (): void => {
    side.hasEnded = true
    wake()
  }
  socket.on('end', end).on('close', end)
  return {
    async next(ms) {
      most = ms === undefined ? Infinity : MAX_LINE
      socket.setTimeout(ms ?? 0, () => socket.destroy())
      while (lines.length === 0 && !side.hasEnded && !socket.destroyed)
        await new Promise<void>(resolve => {
          wake = resolve
        })
      const line = lines.shift()
      return line === undefined || line.length > most ? undefined : parse(line)
    },
  }
}

function parse(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Message)
      : undefined
  } catch {
    return undefined
  }
}
