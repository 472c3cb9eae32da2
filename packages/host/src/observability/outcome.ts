/** The outcome of a request: allowed, denied (`refused`), denied by a rate limit (`limited`), or failed on the host's side. */
export type DecisionOutcome = 'allowed' | 'refused' | 'limited' | 'failed'

/** The outcomes, in the order in which they are shown. */
export const DECISION_OUTCOMES = ['allowed', 'refused', 'limited', 'failed'] as const

/** Reports the outcome of a request by the status of its response. */
export function outcomeOf(status: number): DecisionOutcome {
  if (status < 400) return 'allowed'
  if (status === 429) return 'limited'
  return status < 500 ? 'refused' : 'failed'
}
