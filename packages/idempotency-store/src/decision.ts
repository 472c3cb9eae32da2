import { isStorableText, malformedReply } from '@gatewright/kernel'
import type { EpochMs } from '@gatewright/kernel/internal'

/** What was decided about a lost run, by whom, and why. */
export interface RunDecision {
  readonly outcome: 'took_effect' | 'never_happened'
  /** Who decided; `recover` if the option `recover` did. */
  readonly by: string
  readonly reason: string
  readonly at: EpochMs
}

/** Who decides about a lost run, and why. Kept with the record of the run. */
export interface DecisionNote {
  /** A name, a team, or the number of a shift: 1 to 200 characters. */
  readonly by: string
  /** 1 to 1000 characters. */
  readonly reason: string
}

/** Encodes a decision as the text that the store keeps. */
export function encodeDecision({ outcome, by, reason, at }: RunDecision): string {
  return JSON.stringify({ outcome, by, reason, at })
}

/** Decodes a stored decision. Fault: `ERR_STORE_REPLY` for any other text. */
export function decodeDecision(text: string): RunDecision {
  try {
    const { outcome, by, reason, at } = JSON.parse(text) as Partial<RunDecision>
    const isOutcome = outcome === 'took_effect' || outcome === 'never_happened'
    if (isOutcome && typeof by === 'string' && typeof reason === 'string' && Number.isSafeInteger(at))
      return { outcome, by, reason, at: at as EpochMs }
  } catch {
    // The text is not JSON.
  }
  throw malformedReply('idempotency storage', 'a decision')
}

/** Throws a `TypeError` for a note that is not as declared. */
export function checkNote(where: string, note: DecisionNote): void {
  for (const [name, longest] of [
    ['by', 200],
    ['reason', 1000],
  ] as const) {
    const text: unknown = note[name]
    if (typeof text !== 'string' || text.trim() === '' || text.length > longest || !isStorableText(text))
      throw new TypeError(
        `${where}: ${name} must be a text of 1 to ${longest} characters, without NUL, got ${typeof text === 'string' ? `${text.length} characters` : typeof text}`,
      )
  }
}
