import { allow, type Denial, type HeaderField } from '@gatewright/kernel'
import { stoppable } from '@gatewright/kernel/internal'
import type { AccessLike, SpendGuardPort, TransactionPort } from '../ports.ts'
import type { DecisionDraft } from '../response/decision.ts'
import { replayOutcome, storedForm, type Outcome } from '../response/outcome.ts'
import type {
  GuardedCall,
  HandlerResponse,
  TransactionalOptions,
  TransactionContext,
  WriteOptions,
} from '../handler-types.ts'
import { outcomeOf } from '../response/handler-outcome.ts'
import { createReservations, type RunReservations } from './reservations.ts'
import { inDialect, type DialectTerms } from './dialect.ts'
import { checkReplay, recordFields, type RecordDependencies } from './record.ts'
import { writeFacts } from './write-facts.ts'

type Call = GuardedCall<AccessLike>
type Prepare = NonNullable<WriteOptions<AccessLike>['prepare']>

/** What a transactional write needs. */
export interface TransactionalDependencies {
  readonly operation: string
  /** Whether bodies of the operation may have old field names. */
  readonly hasOldFields: boolean
  /** Statuses and replay field. */
  readonly dialect: DialectTerms
  /** Whether the gate has the option `render`. */
  readonly hasOwnRenderer: boolean
  readonly transactions: TransactionPort<unknown>
  readonly idempotencyKey: NonNullable<TransactionalOptions<AccessLike>['idempotencyKey']>
  readonly accountOf: RecordDependencies['accountOf']
  /** Whether the query is part of a write. Undefined: it is not. */
  readonly comparesQuery: boolean | undefined
  /** The guard, if it counts spends. */
  readonly spending: SpendGuardPort | undefined
  /** Whether the operation's rule spends. */
  readonly reserves: boolean
  /** Makes the spend storage that writes in an open transaction. */
  readonly spendStorage: ((tx: unknown) => unknown) | undefined
  /** Makes the storage of approvals that writes in an open transaction. */
  readonly approvalStorage: ((tx: unknown) => unknown) | undefined
  readonly prepare: Prepare | undefined
  readonly handler: (
    call: Call,
    context: TransactionContext<unknown, unknown>,
  ) => HandlerResponse | Promise<HandlerResponse>
}

/** Repeats that wait for a run in this process get its error. */
const ABANDONED = {}

/**
 * Runs a write. Its response is stored together with its rows and reservations, or none of them is. A repeat gets the stored response.
 * Notes the id of the effect for the decision event.
 */
export function runTransaction(
  dependencies: TransactionalDependencies,
  call: Call,
  decision: DecisionDraft,
): Promise<Outcome> {
  return askingAfter(waits =>
    // What ends a run with a denial rolls its transaction back, so that nothing of the run is stored.
    stoppable<Outcome>(
      stop =>
        runUntilStopped(dependencies, call, decision, {
          waits,
          abandon: denial => stop({ kind: 'denial', denial }),
        }),
      ABANDONED,
    ),
  )
}

/** Notes the reservations of a run, one of which may wait for an approval. */
type Waits = (reservations: RunReservations | undefined) => void

/** Runs a write, and when its transaction has been rolled back, asks for the approval that it waits for. */
async function askingAfter(run: (waits: Waits) => Promise<Outcome>): Promise<Outcome> {
  let last: RunReservations | undefined
  const outcome = await run(reservations => {
    last = reservations
  })
  if (outcome.kind !== 'denial' || outcome.denial.code !== 'approval_required') return outcome
  const denial = await last?.ask()
  return denial ? { kind: 'denial', denial } : outcome
}

async function runUntilStopped(
  dependencies: TransactionalDependencies,
  call: Call,
  decision: DecisionDraft,
  { waits, abandon }: { readonly waits: Waits; readonly abandon: (denial: Denial) => never },
): Promise<Outcome> {
  const { operation, transactions, accountOf, comparesQuery = false, prepare, handler } = dependencies
  let outcome: Outcome | undefined
  let prepared: unknown
  const isRecorded = recordsCall(dependencies, call)
  const noteEffect = (effectId: string | undefined): void => {
    if (isRecorded) decision.effectId = effectId
  }
  const runPrepare = async (given: Prepare, run: { readonly effectId: string }): Promise<void> => {
    noteEffect(run.effectId)
    const verdict = await given(call, run)
    if (typeof verdict?.ok !== 'boolean') throw new TypeError(`prepare of ${operation} must return a verdict`)
    if (!verdict.ok) abandon(verdict)
    else prepared = verdict.value
  }
  const handle: Parameters<TransactionPort<unknown>['run']>[1] = async (tx, { effectId, fence }) => {
    noteEffect(effectId)
    const reservations = reservationsIn(dependencies, call, tx, effectId)
    waits(reservations)
    const spending = spendFunctions(dependencies, call, reservations)
    outcome = outcomeOf(
      operation,
      await handler(call, { tx, effectId, fence, prepared, abandon, ...spending }),
    )
    const stored = storedForm(outcome)
    const missing = await reservations?.close(stored.status)
    // Thrown, so that the transaction is rolled back.
    if (missing) throw missing
    const spends = reservations?.held() ?? []
    return spends.length > 0 ? { spends, ...stored } : stored
  }
  const prepareRun = prepare && ((started: { readonly effectId: string }) => runPrepare(prepare, started))
  const run =
    isRecorded || !transactions.runUnrecorded
      ? await transactions.run(
          writeFacts(operation, accountOf(call.access, call.facts), call, comparesQuery),
          handle,
          prepareRun,
        )
      : await transactions.runUnrecorded(handle, prepareRun)
  if (!run.ok) return { kind: 'denial', denial: inDialect(dependencies.dialect, run) }
  const { response, replayed, expiresAt, effectId = decision.effectId } = run.value
  noteEffect(effectId)
  const denial = replayed && (await checkReplay(dependencies, call, response))
  if (denial) return { kind: 'denial', denial }
  const final = replayed || !outcome ? replayOutcome(response, dependencies.hasOwnRenderer) : outcome
  return withFields(final, recordFields(dependencies.dialect, replayed, expiresAt))
}

/** Whether a request is recorded: it must have a key, or has one where it may. */
function recordsCall({ idempotencyKey }: TransactionalDependencies, { facts }: Call): boolean {
  if (idempotencyKey === 'optional') return facts.header('idempotency-key') !== undefined
  return idempotencyKey === 'required'
}

/** Makes the reservations of one run, which commit in its transaction: at most one. Undefined: the operation does not spend. */
function reservationsIn(
  { operation, spending, reserves, spendStorage, approvalStorage }: TransactionalDependencies,
  { access }: Call,
  tx: unknown,
  requestId: string,
): RunReservations | undefined {
  if (!reserves || !spending || !spendStorage) return undefined
  return createReservations({
    operation,
    guard: spending,
    access,
    // The hold of an earlier run, whose record has expired, may still be open under its `effectId`.
    effectId: undefined,
    most: 1,
    // Each run uses the approval for itself: when the record has expired, a repeat is another effect, which has to be approved again.
    approval: approvalStorage && { requestId, effectId: `${requestId}.${crypto.randomUUID()}` },
    inTransaction: { spends: spendStorage(tx), approvals: approvalStorage?.(tx) },
    advice: 'call reserve of the context before the effect',
    settlesInFull: false,
  })
}

/** Makes the functions of a handler that concern its spending. It keeps its hold: the hold is stored with its rows. */
function spendFunctions(
  { operation, spending }: TransactionalDependencies,
  { access }: Call,
  reservations: RunReservations | undefined,
): Pick<TransactionContext<unknown, unknown>, 'reserve' | 'spendsNothing' | 'permits'> {
  return {
    async reserve(spend) {
      if (!reservations) throw new TypeError(`${operation} may not reserve anything: its rule must spend`)
      const held = await reservations.reserve(spend)
      return held.ok ? allow(held.value.keep()) : held
    },
    spendsNothing: () => reservations?.spendsNothing(),
    async permits(amount) {
      if (!spending) throw new TypeError(`${operation}: the guard must have permits`)
      return spending.permits(access, amount)
    },
  }
}

function withFields(outcome: Outcome, fields: readonly HeaderField[]): Outcome {
  if (outcome.kind === 'failure') return outcome
  if (outcome.kind === 'denial') {
    const { denial } = outcome
    return { kind: 'denial', denial: { ...denial, headers: [...fields, ...(denial.headers ?? [])] } }
  }
  const { response: output } = outcome
  return { kind: 'response', response: { ...output, headers: [...fields, ...output.headers] } }
}
