import { writeSync } from 'node:fs'

/** How long a line waits for others that are written with it. */
const BATCH_MS = 10
/** A batch is written before that if it has more than this many characters. */
const BATCH_CHARACTERS = 65_536
/** How much may wait for a slow reader, in bytes. */
const MAX_WAITING_BYTES = 524_288
/** How long a reader that does not keep up is left alone before the next attempt. */
const RETRY_MS = 20
/** How long the end of the process waits for a slow reader: the last lines say why it ended. */
const LAST_LINES_MS = 500

const LINE_FEED = 10

let dropped = 0

/** How many log lines this process has dropped, because their reader does not keep up or the disk is full. */
export const droppedLogLines = (): number => dropped

/**
 * Makes a writer of lines to standard error that never blocks and keeps no more than 512 KiB. The lines of 10 ms are one write:
 * a write for each turn of the event loop costs a tenth of a guarded read. A process that is killed loses the lines of the last 10 ms.
 * Lines that do not fit while the reader of a pipe is stopped are dropped and counted, and so are those that cannot be written, as on a
 * full disk. Only the end of the process waits for a reader, half a second at most. The destinations of pino would keep such lines without bound, or wait for the reader and so stop the whole process.
 */
export function standardErrorWriter(): { write(line: string): void } {
  // Creating this stream is what makes Node switch a pipe or socket to writes that do not block.
  const { fd } = process.stderr as { readonly fd?: number }
  const writer = lineWriter((bytes: Uint8Array) => writeSync(fd ?? 2, bytes))
  process.once('exit', () => writer.end())
  return writer
}

/** Batches lines for `send`, which returns how many bytes it took or throws `EAGAIN` if its reader is not ready. */
function lineWriter(send: (bytes: Uint8Array) => number): { write(line: string): void; end(): void } {
  let batch = ''
  let next: NodeJS.Timeout | undefined
  /** Batches that are not sent, in order. They are joined only when they are sent: to join them with each batch would copy them all. */
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  let retry: NodeJS.Timeout | undefined
  /** Whether the last write failed: a line may have been written in part. */
  let failed = false

  const keep = (bytes: Uint8Array): void => {
    waiting = bytes.length === 0 ? [] : [bytes]
    waitingBytes = bytes.length
  }
  /** Sends what waits. False: its reader is not ready, and another attempt is scheduled. */
  const sendWaiting = (): boolean => {
    clearTimeout(retry)
    retry = undefined
    let bytes = waiting.length === 1 ? (waiting[0] as Uint8Array) : Buffer.concat(waiting)
    try {
      while (bytes.length > 0) bytes = bytes.subarray(send(bytes))
      keep(bytes)
      failed = false
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
        keep(bytes)
        retry = setTimeout(sendWaiting, RETRY_MS).unref()
        return false
      }
      dropped += linesIn(bytes)
      keep(new Uint8Array())
      failed = true
      return true
    }
  }
  const flush = (most = MAX_WAITING_BYTES): void => {
    if (batch === '') return
    const bytes = Buffer.from(failed ? `\n${batch}` : batch)
    batch = ''
    if (waitingBytes + bytes.length > most) dropped += linesIn(bytes)
    else {
      waiting.push(bytes)
      waitingBytes += bytes.length
    }
    if (retry === undefined) sendWaiting()
  }
  return {
    write(line) {
      batch += line
      if (batch.length > BATCH_CHARACTERS) flush()
      next ??= setTimeout(() => {
        next = undefined
        flush()
      }, BATCH_MS).unref()
    },
    end() {
      // The last lines are kept even if earlier ones fill what may wait.
      flush(Number.POSITIVE_INFINITY)
      const pause = new Int32Array(new SharedArrayBuffer(4))
      const until = performance.now() + LAST_LINES_MS
      while (!sendWaiting() && performance.now() < until) Atomics.wait(pause, 0, 0, 5)
    },
  }
}

function linesIn(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1
  return count
}
