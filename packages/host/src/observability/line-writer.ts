import { writeSync } from 'node:fs'

/** Lines of one turn of the event loop are written together, but not more than about this many characters. */
const BATCH_CHARACTERS = 65_536
/** How much may wait for a slow reader, in bytes. */
const MAX_WAITING_BYTES = 524_288
/** How long a reader that does not keep up is left alone before the next attempt. */
const RETRY_MS = 20

const LINE_FEED = 10

let dropped = 0

/** How many log lines this process has dropped, because their reader does not keep up or the disk is full. */
export const droppedLogLines = (): number => dropped

/**
 * Makes a writer of lines to standard error that never blocks and keeps no more than 512 KiB. The lines of one turn of the event loop are
 * one write: a write for each line costs a fifth of a guarded read. Lines that do not fit
 * while the reader of a pipe is stopped are dropped and counted, and so are those that cannot be written, as on a full disk. The
 * destinations of pino would keep such lines without bound, or wait for the reader and so stop the whole process.
 */
export function standardErrorWriter(): { write(line: string): void } {
  // Creating this stream is what makes Node switch a pipe or socket to writes that do not block.
  const { fd } = process.stderr as { readonly fd?: number }
  const writer = lineWriter((bytes: Uint8Array) => writeSync(fd ?? 2, bytes))
  process.once('exit', () => writer.flush())
  return writer
}

/** Batches lines for `send`, which returns how many bytes it took or throws `EAGAIN` if its reader is not ready. */
function lineWriter(send: (bytes: Uint8Array) => number): { write(line: string): void; flush(): void } {
  let batch = ''
  let scheduled = false
  let waiting: Uint8Array = new Uint8Array()
  let retry: NodeJS.Timeout | undefined
  /** Whether the last write failed: a line may have been written in part. */
  let failed = false

  const sendWaiting = (): void => {
    retry = undefined
    try {
      while (waiting.length > 0) waiting = waiting.subarray(send(waiting))
      failed = false
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
        retry = setTimeout(sendWaiting, RETRY_MS).unref()
        return
      }
      dropped += linesIn(waiting)
      waiting = new Uint8Array()
      failed = true
    }
  }
  const flush = (): void => {
    const bytes = Buffer.from(failed ? `\n${batch}` : batch)
    batch = ''
    if (waiting.length + bytes.length > MAX_WAITING_BYTES) dropped += linesIn(bytes)
    else waiting = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes])
    if (retry === undefined) sendWaiting()
  }
  return {
    write(line) {
      batch += line
      if (batch.length > BATCH_CHARACTERS) flush()
      if (scheduled) return
      scheduled = true
      setImmediate(() => {
        scheduled = false
        if (batch !== '') flush()
      })
    },
    flush,
  }
}

function linesIn(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1
  return count
}
