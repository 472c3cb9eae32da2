import { open, rename, type FileHandle } from 'node:fs/promises'
import { GRACE_MS, keyDigest, orFault } from '@gatewright/kernel'
import type { NonceStorage } from '@gatewright/signature-verifier'

/** Replay memory of one process in one file, and what closes it. */
export interface JournalStorage extends NonceStorage {
  close(): Promise<void>
}

/** Begins with the line break: it also ends a line that a crash or a full disk has cut short. */
const line = (key: string, expiresAt: number): string => `\n${key} ${expiresAt}`

/**
 * A custom adapter: an append-only file, for a tool of one process that must remember across restarts. The claim is
 * decided in memory, in one step, and is on the disk before `claim` resolves.
 */
export async function journalStorage(path: string): Promise<JournalStorage> {
  const live = new Map<string, number>()
  let file: FileHandle = await open(path, 'a+', 0o600)
  for (const entry of (await file.readFile('utf8')).split('\n')) {
    const [key = '', expiresAt] = entry.split(' ')
    // For a line that a crash cut short, `claim` never returned true; the part that can be read is kept.
    if (expiresAt !== undefined) live.set(key, Number(expiresAt))
  }
  /** Writes happen one after the other, so that no line is cut by another. */
  let tail: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(write: () => Promise<T>): Promise<T> => {
    const turn = tail.then(() => orFault('journal', write))
    tail = turn.catch(() => undefined)
    return turn
  }

  return {
    async claim(text, expiresAt, now) {
      // Of fixed length and harmless, whatever the text: 64 KiB, line breaks, lone surrogates.
      const key = keyDigest(text)
      if (now < (live.get(key) ?? -Infinity)) return false
      live.set(key, expiresAt)
      // When the write fails the key stays claimed: a fault means "maybe", never "free".
      await inTurn(async () => {
        await file.appendFile(line(key, expiresAt))
        await file.datasync()
      })
      return true
    },

    /** Writes a new journal without the expired keys, and replaces the old one in one step. */
    async collect(limit, now) {
      const ended = [...live].filter(([, expiresAt]) => expiresAt <= now - GRACE_MS).slice(0, limit)
      if (ended.length === 0) return 0
      for (const [key] of ended) live.delete(key)
      await inTurn(async () => {
        const next = await open(`${path}.next`, 'w+', 0o600)
        await next.appendFile([...live].map(([key, expiresAt]) => line(key, expiresAt)).join(''))
        await next.datasync()
        await rename(`${path}.next`, path)
        await file.close()
        file = next
      })
      return ended.length
    },

    close: () => inTurn(() => file.close()),
  }
}
