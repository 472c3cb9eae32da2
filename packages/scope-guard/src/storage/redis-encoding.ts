import { keyDigest, malformedReply } from '@gatewright/kernel'
import type { ReserveOutcome, SpendItem } from './port.ts'

/** Encodes the items of a hold; equal items give equal text. Amounts are strings, since Lua would round large numbers. */
export function holdText(items: readonly SpendItem[]): string {
  return JSON.stringify(items.map(({ counter, unit, amount }) => [keyDigest(counter), unit, String(amount)]))
}

/** Reads the integers of a reply. The scripts reply with small numbers as integers, and with large ones as text. */
export function readIntegers(reply: unknown): number[] {
  if (!Array.isArray(reply)) throw malformedReply('redis', 'a list')
  const numbers = reply.map(Number)
  if (!numbers.every(Number.isSafeInteger)) throw malformedReply('redis', 'integers')
  return numbers
}

/** Reads the reply of the reserve script. `items` is the number of items of the reservation. */
export function readReserveReply(reply: unknown, items: number): ReserveOutcome {
  const [outcome, ...rest] = readIntegers(reply)
  if (outcome === 1 && rest.length === items) return { outcome: 'held', used: rest }
  const [index, used] = rest
  if (outcome === 0 && index !== undefined && used !== undefined) return { outcome: 'over', index, used }
  if (outcome === 2 && rest.length === 0) return { outcome: 'conflict' }
  throw malformedReply('redis', 'held, over or conflict')
}
