import { malformedReply, type EpochMs } from '@gatewright/kernel'
import { isStorableText } from '@gatewright/kernel/internal'

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

/** The longest texts of a `DecisionNote`, in characters. */
export const LONGEST_NOTE: Readonly<Record<keyof DecisionNote, number>> = { by: 200, reason: 1000 }

/** Whether a value may be this text of a `DecisionNote`. */
export function isNote(name: keyof DecisionNote, value: unknown): value is string {
  if (typeof value !== 'string' || value.trim() === '') return false
  return value.length <= LONGEST_NOTE[name] && isStorableText(value)
}

/** Throws a `TypeError` for a note that is not as declared. */
export function checkNote(where: string, note: DecisionNote): void {
  for (const name of ['by', 'reason'] as const) {
    const text: unknown = note[name]
    if (isNote(name, text)) continue
    const came = typeof text === 'string' ? `${text.length} characters` : typeof text
    throw new TypeError(
      `${where}: ${name} must be a text of 1 to ${LONGEST_NOTE[name]} characters, without NUL, got ${came}`,
    )
  }
}
