import { malformedReply } from '@gatewright/kernel'
import type { ReserveOutcome, SettleOutcome } from './port.ts'

/** Reads the reply of the SQL function `spend_reserve`, which is JSON text. `items` is the number of items of the reservation. */
export function readReserveReply(text: string, items: number): ReserveOutcome {
  return readReserveOutcome(readJson(text), items)
}

/** Reads JSON text of a reply. Fault: `ERR_STORE_REPLY`. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformedReply('postgres', 'JSON')
  }
}

/** Reads the outcome of a reservation. Fault: `ERR_STORE_REPLY`. */
export function readReserveOutcome(reply: unknown, items: number): ReserveOutcome {
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

/** Reads the outcome of a settlement or a release. Fault: `ERR_STORE_REPLY`. */
export function readEndOutcome(outcome: unknown): SettleOutcome {
  if (outcome === 'settled' || outcome === 'gone' || outcome === 'exceeds') return outcome
  throw malformedReply('postgres', 'settled, gone or exceeds')
}
