import type { Denial } from '@gatewright/kernel'
import { docsLink } from '@gatewright/kernel/internal'
import { printError } from '@gatewright/kernel/internal/platform'

/** Why the outcome of a run is unknown. */
export interface UnknownCause {
  readonly text: string
  /** The handler threw, so the team may declare that such an error had no effect. */
  readonly wasThrown?: true
}

/** Tells the operator, once per cause, what neither a response nor a failure says. */
export interface Hints {
  /**
   * Why a request was denied: its `reason` and `explanation`, which the response does not contain. Of each reason, the first five
   * different explanations are written.
   */
  denied(
    operation: string | undefined,
    denial: Pick<Denial, 'code' | 'status' | 'reason' | 'explanation'>,
  ): void
  /** That the outcome of a run is unknown, so that its key is locked. Once per operation. */
  unknownOutcome(operation: string, effectId: string, cause: UnknownCause): void
  /** What the code of the server does otherwise than it seems to, once per `key`, which no request names. */
  mistake(key: string, text: string): void
}

/** How many operations, reasons, and explanations of one reason are written at most: a client must not be able to fill a log. */
const MAX_CAUSES = 100
const MAX_EXPLANATIONS = 5

/** Makes the hints of a gate. Each cause is written once per process, as one line. */
export function createHints(write: (line: string) => void = printError): Hints {
  const explained = new Map<string, Set<string>>()
  const operations = new Set<string>()
  const mistakes = new Set<string>()
  return {
    mistake(key, text) {
      if (mistakes.has(key)) return
      mistakes.add(key)
      write(`gatewright: ${text} (logged once)`)
    },
    denied(operation = 'a request', { code, status, reason, explanation = '' }) {
      if (reason === undefined) return
      const known = explained.get(reason) ?? new Set()
      if (known.has(explanation) || known.size === MAX_EXPLANATIONS) return
      if (known.size === 0 && explained.size === MAX_CAUSES) return
      explained.set(reason, known.add(explanation))
      const detail = explanation === '' ? '' : ` (${explanation})`
      const link = status === 401 ? ` ${docsLink(`401.md#${anchorOf(reason)}`)}` : ''
      write(`gatewright: ${operation} got ${status} ${code}: ${reason}${detail}${link} (logged once)`)
    },
    unknownOutcome(operation, effectId, { text, wasThrown }) {
      if (operations.has(operation) || operations.size === MAX_CAUSES) return
      operations.add(operation)
      const advice = wasThrown
        ? 'If it was thrown before any effect, use nothingHappened or noEffectStatuses'
        : 'What to do'
      write(
        `gatewright: ${operation}: the outcome of the run ${effectId} is unknown, so its key is locked: ${text}. ${advice}: ${docsLink('idempotency.md#a-run-of-unknown-outcome')} (logged once per operation)`,
      )
    },
  }
}

/** Returns the anchor of a heading, as GitHub spells it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')
