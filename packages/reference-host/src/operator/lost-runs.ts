import { storedForm } from '@gatewright/http'
import type { EpochMs } from '@gatewright/kernel'
import type { ListedLostRun, LostRuns } from '@gatewright/idempotency-store/postgres'

/** A lost run in the output for operators: `run` identifies it, and its instants are RFC 3339. */
interface DescribedLostRun {
  readonly run: string
  /** The `operationId` that the client got. */
  readonly operationId: string
  readonly beganAt: string
  /** Null if the handler reported that it does not know the outcome. */
  readonly leaseEndedAt: string | null
}

/** A decision of the operator about a lost run. */
type RunDecision =
  | { readonly outcome: 'never_happened' }
  /** The write took effect. Retries of the client get 200 with `data`. */
  | { readonly outcome: 'completed'; readonly data: Readonly<Record<string, unknown>> }

/** Lists up to `limit` writes with an idempotency key whose outcome is unknown. */
export async function listLostRuns(runs: LostRuns, limit: number, now: EpochMs): Promise<DescribedLostRun[]> {
  return (await runs.list(limit, now)).map(describe)
}

/** Decides about a lost run. False: the run is not lost. Of several simultaneous decisions, one returns true. */
export async function resolveLostRun(
  runs: LostRuns,
  run: string,
  decision: RunDecision,
  now: EpochMs,
): Promise<boolean> {
  const named = parseRun(run)
  if (!named) return false
  if (decision.outcome === 'never_happened') return runs.resolve(named, { state: 'never_happened' }, now)
  // Stored like the response of a handler: without the envelope.
  const body = { data: decision.data, summary: 'The operator found that this request took effect.' }
  const response = storedForm({ kind: 'response', response: { status: 200, headers: [], body } })
  return runs.resolve(named, { state: 'completed', response }, now)
}

/** Reads a decision. Returns undefined for an unknown outcome, and for a completed run whose `data` is not a JSON object. */
export function decisionOf(outcome: unknown, data: unknown): RunDecision | undefined {
  if (outcome === 'never_happened') return { outcome }
  if (outcome !== 'completed' || typeof data !== 'object' || data === null || Array.isArray(data))
    return undefined
  return { outcome, data: data as Readonly<Record<string, unknown>> }
}

function describe({ digest, fence, effectId, leaseEndedAt }: ListedLostRun): DescribedLostRun {
  return {
    run: `${digest}.${fence}`,
    operationId: effectId,
    beganAt: new Date(fence).toISOString(),
    leaseEndedAt: leaseEndedAt === null ? null : new Date(leaseEndedAt).toISOString(),
  }
}

function parseRun(run: string): Pick<ListedLostRun, 'digest' | 'fence'> | undefined {
  const [, digest, fence] = /^([\w-]{1,64})\.(\d{1,15})$/.exec(run) ?? []
  return digest === undefined ? undefined : { digest, fence: Number(fence) }
}
