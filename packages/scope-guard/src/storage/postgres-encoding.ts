import { malformedReply } from '@gatewright/kernel'
import type { ReserveOutcome } from './port.ts'

/** Reads the reply of the SQL function `spend_reserve`, which is JSON text. `items` is the number of items of the reservation. */
export function readReserveReply(text: string, items: number): ReserveOutcome {
  let reply: unknown
  try {
    reply = JSON.parse(text)
  } catch {
    throw malformedReply('postgres', 'JSON')
  }
  const [outcome, first, second] = Array.isArray(reply) ? (reply as unknown[]) : []
  if (outcome === 'conflict') return { outcome }
  if (
    outcome === 'held' &&
    Array.isArray(first) &&
    first.length === items &&
    first.every(Number.isSafeInteger)
  ) {
    return { outcome, used: first as number[] }
  }
  if (outcome === 'over' && Number.isSafeInteger(first) && Number.isSafeInteger(second)) {
    return { outcome, index: first as number, used: second as number }
  }
  throw malformedReply('postgres', 'held, over or conflict')
}
