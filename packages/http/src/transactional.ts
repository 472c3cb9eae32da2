import type { Denial, Verdict, HeaderField } from '@gatewright/kernel'
import { keptForm, keptOutcome, type Outcome } from './outcome.ts'
import type { AccessLike, SpendGuardPart, SpentLike, TransactionPart } from './parts.ts'
import { outcomeOf, type HandlerAnswer } from './perform.ts'
import { recordFields, replayForbidden } from './record.ts'
import type { Effect, GuardedCall, Prepare } from './stages.ts'

type Call = GuardedCall<AccessLike>

/** What a transactional write works with. */
export interface TransactionalParts {
  readonly operation: string
  /** Whether a renderer takes values, not texts. */
  readonly rendersValues: boolean
  readonly transactions: TransactionPart<unknown>
  readonly accountOf: (access: AccessLike) => string
  /** The guard, where it counts spends. */
  readonly spending: SpendGuardPart<AccessLike, unknown> | undefined
  /** Whether the operation reserves. */
  readonly reserves: boolean
  /** The spend counters in an open transaction. */
  readonly spendStorage: ((tx: unknown) => unknown) | undefined
  readonly prepare: Prepare<Call, unknown> | undefined
  readonly handler: (call: Call, effect: Effect<unknown, unknown>) => HandlerAnswer | Promise<HandlerAnswer>
}

/** Carries a denial out of the run that it ends, so that nothing of the run is kept. */
class Abandoned extends Error {
  readonly denial: Denial
  constructor(denial: Denial) {
    super('abandoned')
    this.denial = denial
  }
}

/** Runs a write: its answer is kept with its rows and what it reserved, or none of them; a repeat gets the kept answer. */
export async function runTransaction(parts: TransactionalParts, call: Call): Promise<Outcome> {
  const { operation, transactions, accountOf, spending, prepare, handler } = parts
  const { facts, access, body } = call
  let made: Outcome | undefined
  let prepared: unknown
  const ready = async (given: Prepare<Call, unknown>): Promise<void> => {
    const verdict = await given(call)
    if (typeof verdict?.ok !== 'boolean') throw new TypeError(`prepare of ${operation} must return a verdict`)
    if (!verdict.ok) throw new Abandoned(verdict)
    prepared = verdict.value
  }
  try {
    const run = await transactions.run(
      {
        account: accountOf(access),
        operation,
        key: facts.header('idempotency-key'),
        method: facts.method,
        body,
      },
      async (tx, { effectId, fence }) => {
        const spends: SpentLike[] = []
        const spender = spenderOf(parts, call, { tx, effectId, spends })
        made = outcomeOf(
          operation,
          await handler(call, { tx, effectId, fence, prepared, abandon, ...spender }),
        )
        return { ...keptForm(made), ...(spends.length > 0 ? { spends } : {}) }
      },
      prepare && (() => ready(prepare)),
    )
    if (!run.ok) return { kind: 'denial', denial: run }
    const { response: answer, replayed, expiresAt } = run.value
    const forbidden = replayed && (await replayForbidden(operation, spending, access, answer))
    if (forbidden) return { kind: 'denial', denial: forbidden }
    const outcome = replayed || !made ? keptOutcome(answer, parts.rendersValues) : made
    return withRecord(outcome, recordFields(replayed, expiresAt))
  } catch (error) {
    if (error instanceof Abandoned) return { kind: 'denial', denial: error.denial }
    throw error
  }
}

const abandon = (denial: Denial): never => {
  throw new Abandoned(denial)
}

/** The spending verbs of one run: one reservation, under the effect's id, in its transaction. */
function spenderOf(
  { operation, spending, reserves, spendStorage }: TransactionalParts,
  { access }: Call,
  { tx, effectId, spends }: { readonly tx: unknown; readonly effectId: string; readonly spends: SpentLike[] },
): Pick<Effect<unknown, unknown>, 'reserve' | 'permits'> {
  let done = false
  return {
    async reserve(spend): Promise<Verdict<unknown>> {
      if (!reserves || !spending || !spendStorage || done)
        throw new TypeError(
          `${operation} may not reserve ${done ? 'twice' : 'anything: its rule must spend'}`,
        )
      done = true
      const held = await spending.reserve(access, { ...spend, holdId: effectId }, spendStorage(tx) as never)
      if (held.ok) spends.push(spend)
      return held
    },
    async permits(spent) {
      if (!spending) throw new TypeError(`${operation}: a guard with permits is needed`)
      return spending.permits(access, spent)
    },
  }
}

function withRecord(outcome: Outcome, fields: readonly HeaderField[]): Outcome {
  if (outcome.kind === 'failure') return outcome
  if (outcome.kind === 'denial') {
    const { denial } = outcome
    return { kind: 'denial', denial: { ...denial, headers: [...fields, ...(denial.headers ?? [])] } }
  }
  const { answer } = outcome
  return { kind: 'answer', answer: { ...answer, headers: [...fields, ...answer.headers] } }
}
