import type { Denial, Verdict, HeaderField } from '@gatewright/kernel'
import type { AccessLike, AmountLike, SpendGuardPort, TransactionPort } from '../ports.ts'
import type { DecisionDraft } from '../response/decision.ts'
import { replayOutcome, storedForm, type Outcome } from '../response/outcome.ts'
import type { GuardedCall, HandlerResponse, TransactionContext, WriteOptions } from '../handler-types.ts'
import { outcomeOf } from '../response/handler-outcome.ts'
import { notReserved } from './reservations.ts'
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
  readonly accountOf: RecordDependencies['accountOf']
  /** Whether the query is part of a write. Undefined: it is not. */
  readonly comparesQuery: boolean | undefined
  /** The guard, if it counts spends. */
  readonly spending: SpendGuardPort | undefined
  /** Whether the operation's rule spends. */
  readonly reserves: boolean
  /** Makes the spend storage that writes in an open transaction. */
  readonly spendStorage: ((tx: unknown) => unknown) | undefined
  readonly prepare: Prepare | undefined
  readonly handler: (
    call: Call,
    context: TransactionContext<unknown, unknown>,
  ) => HandlerResponse | Promise<HandlerResponse>
}

/** Thrown to end a run with a denial, so that nothing of the run is stored. */
class DenialError extends Error {
  readonly denial: Denial
  constructor(denial: Denial) {
    super('abandoned')
    this.denial = denial
  }
}

/**
 * Runs a write. Its response is stored together with its rows and reservations, or none of them is. A repeat gets the stored response.
 * Notes the id of the effect for the decision event.
 */
export async function runTransaction(
  dependencies: TransactionalDependencies,
  call: Call,
  decision: DecisionDraft,
): Promise<Outcome> {
  const { operation, transactions, accountOf, comparesQuery = false, prepare, handler } = dependencies
  let outcome: Outcome | undefined
  let prepared: unknown
  const runPrepare = async (given: Prepare, run: { readonly effectId: string }): Promise<void> => {
    decision.effectId = run.effectId
    const verdict = await given(call, run)
    if (typeof verdict?.ok !== 'boolean') throw new TypeError(`prepare of ${operation} must return a verdict`)
    if (!verdict.ok) throw new DenialError(verdict)
    prepared = verdict.value
  }
  try {
    const run = await transactions.run(
      writeFacts(operation, accountOf(call.access, call.facts), call, comparesQuery),
      async (tx, { effectId, fence }) => {
        decision.effectId = effectId
        const spends: AmountLike[] = []
        const { mustReserve, ...spendFunctions } = spendFunctionsOf(dependencies, call, { tx, spends })
        outcome = outcomeOf(
          operation,
          await handler(call, { tx, effectId, fence, prepared, abandon, ...spendFunctions }),
        )
        const stored = storedForm(outcome)
        // Thrown, so that the transaction is rolled back.
        if (stored.status < 400 && mustReserve())
          throw notReserved(operation, 'call reserve of the context before the effect')
        return { ...stored, ...(spends.length > 0 ? { spends } : {}) }
      },
      prepare && (started => runPrepare(prepare, started)),
    )
    if (!run.ok) return { kind: 'denial', denial: inDialect(dependencies.dialect, run) }
    const { response, replayed, expiresAt, effectId = decision.effectId } = run.value
    decision.effectId = effectId
    const denial = replayed && (await checkReplay(dependencies, call, response))
    if (denial) return { kind: 'denial', denial }
    const final = replayed || !outcome ? replayOutcome(response, dependencies.hasOwnRenderer) : outcome
    return withFields(final, recordFields(dependencies.dialect, replayed, expiresAt))
  } catch (error) {
    if (error instanceof DenialError) return { kind: 'denial', denial: error.denial }
    throw error
  }
}

const abandon = (denial: Denial): never => {
  throw new DenialError(denial)
}

/**
 * Makes the functions of one run that concern its spending: at most one reservation, in its transaction. `mustReserve` says
 * whether a success would be without the reservation that it needs.
 */
function spendFunctionsOf(
  { operation, spending, reserves, spendStorage }: TransactionalDependencies,
  { access }: Call,
  { tx, spends }: { readonly tx: unknown; readonly spends: AmountLike[] },
): Pick<TransactionContext<unknown, unknown>, 'reserve' | 'spendsNothing' | 'permits'> & {
  mustReserve(): boolean
} {
  let reserved = false
  let mayBeFree = false
  return {
    mustReserve: () => reserves && spends.length === 0 && !mayBeFree,
    spendsNothing() {
      mayBeFree = true
    },
    async reserve(spend): Promise<Verdict<unknown>> {
      if (!reserves || !spending || !spendStorage || reserved)
        throw new TypeError(
          `${operation} may not reserve ${reserved ? 'twice' : 'anything: its rule must spend'}`,
        )
      reserved = true
      // The hold gets a random id, because the hold of an earlier run, whose record has expired, may still be open under `effectId`.
      const held = await spending.reserve(access, spend, spendStorage(tx) as never)
      if (held.ok) spends.push(spend)
      return held
    },
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
