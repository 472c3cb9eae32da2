import { Fault, type Denial, type Verdict } from '@gatewright/kernel'
import type {
  AccessLike,
  AmountLike,
  ApprovedFor,
  IdempotencyPort,
  RecordedResponse,
  SpendGuardPort,
  WireResponse,
} from '../ports.ts'
import type { OpenHold, SpendingCall } from '../handler-types.ts'

type Undo = Parameters<IdempotencyPort['complete']>[2]
type Completion = Awaited<ReturnType<IdempotencyPort['complete']>>

/** The most holds of one run with a record: as many as `endRunHolds` of scope-guard ends for a lost run. */
export const MOST_HOLDS = 16

/** The reservations of one run. */
export interface RunReservations
  extends Pick<SpendingCall<AccessLike, unknown>, 'reserve' | 'spendsNothing'> {
  /**
   * Ends reserving, and returns the fault of a success that reserved nothing, or whose handler did not say how a hold ends.
   * Undefined: the response may be stored.
   */
  close(status: number): Promise<Fault | undefined>
  /** Asks for the approval that a denied amount of a transaction waits for. Undefined: none does. Call it when the transaction is over. */
  ask(): Promise<Denial> | undefined
  /** Returns the amounts that are held. */
  held(): readonly AmountLike[]
  /** Releases every hold when the run ends, whatever its handler has said: the run had no effect. */
  releaseAll(): void
  /**
   * Records the response together with the reserved amounts, then ends the holds. If the key will be freed, ends them before
   * that. If the outcome is unknown or of another run, ends none.
   */
  end(
    response: WireResponse,
    complete: (response: RecordedResponse, undo?: Undo) => Promise<Completion>,
    report: (error: unknown) => void,
  ): Promise<Completion>
}

interface Reservation {
  readonly amount: AmountLike
  /** What the guard decided. Failed: whether the amount is held is unknown. */
  outcome?: 'denied' | { readonly hold: unknown } | { readonly failed: unknown }
  /** How the hold ends: the amount that was spent, or without one. */
  end?: number | 'release' | 'keep'
}

/** What the reservations of a run need. */
interface ReservationDependencies {
  readonly operation: string
  readonly guard: SpendGuardPort
  readonly access: AccessLike
  /** The id of the first hold, from which the ids of further ones are made. Undefined: the guard draws each id. */
  readonly effectId: string | undefined
  /** The most holds of the run. */
  readonly most: number
  /** The request, whose amounts may have to be approved. Undefined: the guard has no approvals. */
  readonly approval: ApprovedFor | undefined
  /** The storages of an open transaction, in which holds and the use of approvals commit. Default: those of the guard. */
  readonly inTransaction?: { readonly spends: unknown; readonly approvals: unknown }
  /** How a success that reserved nothing can reserve, for its fault. */
  readonly advice: string
  /** Whether a success settles a hold in full whose end the handler did not say. */
  readonly settlesInFull: boolean
}

/** Tracks what a run reserves, and how each hold ends. */
export function createReservations(dependencies: ReservationDependencies): RunReservations {
  const { operation, guard, access, effectId, most, approval, inTransaction, settlesInFull } = dependencies
  const made: Reservation[] = []
  const pending: Promise<unknown>[] = []
  let isOpen = true
  let mayBeFree = false
  let asked: AskedSpend | undefined
  const assertOpen = (name: string): void => {
    if (!isOpen) throw new TypeError(`${operation}: ${name} must be called before the handler returns`)
  }
  const reserveHold = async (
    reservation: Reservation,
    spend: AskedSpend,
  ): Promise<Verdict<OpenHold<unknown>>> => {
    assertOpen('reserve')
    if (made.length === most)
      throw new TypeError(
        `${operation}: a run may reserve at most ${most === 1 ? 'once' : `${most} times`}: reserve a sum, or make several requests`,
      )
    made.push(reservation)
    const verdict = await reserveOf(dependencies, reservation, spend)
    if (verdict.ok) return { ok: true, value: openHold(operation, reservation, verdict.value, assertOpen) }
    if (verdict.code !== 'approval_required' || !spend.approval) return verdict
    // Not in the transaction: it is rolled back, and its database may have one writer.
    if (!inTransaction) return requestApproval(guard, access, spend)
    asked = spend
    return verdict
  }
  const endHold = async ({ outcome, end = 'release' }: Reservation): Promise<void> => {
    if (typeof outcome !== 'object') return
    if ('failed' in outcome) throw outcome.failed
    if (end === 'release') await guard.release(outcome.hold)
    else if (end !== 'keep') await guard.settle(outcome.hold, end)
  }

  return {
    // Not `async`: an async function would return a second promise, whose rejection is unhandled if the handler does not await it.
    reserve(spend) {
      const nth = made.length + 1
      const own = effectId === undefined || nth === 1 ? effectId : `${effectId}-${nth}`
      const holdId = spend.holdId ?? own
      const reserved = reserveHold(
        { amount: storedAmount(spend) },
        { ...spend, ...(holdId === undefined ? {} : { holdId }), ...(approval ? { approval } : {}) },
      )
      // A handler may respond without awaiting it; `close` waits for it.
      pending.push(reserved.catch(() => {}))
      return reserved
    },
    spendsNothing() {
      assertOpen('spendsNothing')
      mayBeFree = true
    },

    async close(status) {
      isOpen = false
      await Promise.all(pending)
      if (status >= 400) return undefined
      const held = made.filter(isHeld)
      if (settlesInFull) for (const each of held) each.end ??= each.amount.amountCents
      if (held.length === 0 && !mayBeFree) return notReserved(operation, dependencies.advice)
      return held.some(({ end }) => end === undefined) ? notEnded(operation) : undefined
    },

    ask: () => asked && requestApproval(guard, access, asked),

    held: () => made.filter(isHeld).map(({ amount }) => amount),

    releaseAll() {
      for (const each of made) each.end = 'release'
    },

    async end(response, complete, report) {
      const spends = this.held()
      const recorded: RecordedResponse = spends.length === 0 ? response : { spends, ...response }
      const possiblyHeld = made.filter(({ outcome }) => outcome !== 'denied')
      if (possiblyHeld.length === 0) return complete(recorded)
      let isFreed = false
      const completion = await complete(recorded, async mayUndo => {
        isFreed = true
        for (const each of possiblyHeld) {
          if (mayUndo?.() === false)
            throw new Fault('ERR_LEASE_LOST', 'the lease ended while holds were ended: raise leaseMs')
          await endHold(each)
        }
      })
      const { state } = completion
      if (isFreed || response.status >= 500 || state === 'late' || state === 'unknown') return completion
      // Not before: until the response is stored, a later run of the request must find its holds.
      for (const each of possiblyHeld) await endHold(each).catch(report)
      return completion
    },
  }
}

/** Reserves, and notes the outcome. */
async function reserveOf(
  { guard, access, inTransaction }: ReservationDependencies,
  reservation: Reservation,
  spend: AskedSpend,
): Promise<Verdict<unknown>> {
  const { spends, approvals } = inTransaction ?? {}
  try {
    const verdict = await guard.reserve(access, spend, spends as never, approvals as never)
    reservation.outcome = verdict.ok ? { hold: verdict.value } : 'denied'
    return verdict
  } catch (error) {
    reservation.outcome = { failed: error }
    throw error
  }
}

type AskedSpend = AmountLike & { readonly holdId?: string; readonly approval?: ApprovedFor }

/** Asks for an approval. Throws a `TypeError` for a guard that has approvals and cannot ask. */
async function requestApproval(
  guard: SpendGuardPort,
  access: AccessLike,
  spend: AskedSpend,
): Promise<Denial> {
  if (!guard.requestApproval) throw new TypeError('a guard with approvals must have requestApproval')
  return guard.requestApproval(access, spend)
}

const isHeld = ({ outcome }: Reservation): boolean => typeof outcome === 'object' && 'hold' in outcome

/** Makes the hold whose end a handler says. */
function openHold(
  operation: string,
  reservation: Reservation,
  hold: unknown,
  assertOpen: (name: string) => void,
): OpenHold<unknown> {
  const most = reservation.amount.amountCents
  const endAs = (end: NonNullable<Reservation['end']>): void => {
    assertOpen('settle, release or keep of a hold')
    if (reservation.end !== undefined)
      throw new TypeError(`${operation}: call only one of settle, release and keep of a hold, and only once`)
    reservation.end = end
  }
  return {
    settle(actualCents = most) {
      if (!Number.isSafeInteger(actualCents) || actualCents < 0 || actualCents > most)
        throw new TypeError(
          `${operation}: settle takes an integer from 0 to ${most}, the reserved amount, got ${actualCents}`,
        )
      endAs(actualCents)
    },
    release: () => endAs('release'),
    keep() {
      endAs('keep')
      return hold
    },
  }
}

/** Makes the fault of a success that reserved nothing. `advice` says how the operation can reserve. */
function notReserved(operation: string, advice: string): Fault {
  return new Fault(
    'ERR_NOT_RESERVED',
    `${operation} would have succeeded without a reservation, although its rule spends: ${advice}; if this request spends nothing, call spendsNothing()`,
  )
}

/**
 * Returns the amount that the function `amount` of an operation (`spends` or `withdraws` of gatewright) gives, without other members: a client whose
 * body became the amount must not name the hold. Throws a `TypeError` if the function throws, gives anything but an object, such as a
 * promise: then the code of the server is wrong, and not the request.
 */
export function checkedAmount(operation: string, compute: () => unknown): AmountLike {
  let given: unknown
  try {
    given = compute()
  } catch (error) {
    throw new TypeError(
      `${operation}: the function that returns the amount threw ${error instanceof Error ? error.name : typeof error}: give the operation a schema of the body that has all that the function reads`,
      { cause: error },
    )
  }
  const isPromise = given instanceof Promise
  // Its rejection would end the process.
  if (isPromise) void (given as Promise<unknown>).catch(() => {})
  if (typeof given !== 'object' || given === null || isPromise)
    throw new TypeError(
      `${operation}: the function that returns the amount (amount, spends, withdraws) must return { amountCents, currency }, got ${isPromise ? 'a promise: read the amount before, or call reserve in the handler' : String(given)}`,
    )
  return onlyAmount(given as AmountLike)
}

/** Leaves out other members: a client whose body is passed as the amount must not name the hold. */
export function onlyAmount(amount: AmountLike): AmountLike {
  const { payee } = amount
  return { ...storedAmount(amount), ...(payee === undefined ? {} : { payee }) }
}

/** The members that a stored response keeps: its payee was decided when the money moved. */
const storedAmount = ({ amountCents, currency, countsAs }: AmountLike): AmountLike => ({
  amountCents,
  currency,
  ...(countsAs ? { countsAs } : {}),
})

/** Says what the function that returns an amount gave, and what was expected. Neither is secret: of other types it names only the type. */
export function returned({ amountCents, currency }: AmountLike): string {
  const cents = typeof amountCents === 'number' ? amountCents : typeof amountCents
  const code = typeof currency === 'string' ? JSON.stringify(currency.slice(0, 8)) : typeof currency
  return `the function that returns the amount (spends, withdraws) gave { amountCents: ${cents}, currency: ${code} }: it must give a safe integer of at least 0 in minor units, and three capital letters. Give the operation a schema of the body, and round what is calculated`
}

function notEnded(operation: string): Fault {
  return new Fault(
    'ERR_HOLD_NOT_ENDED',
    `${operation} would have succeeded with an open hold, which still counts: call hold.settle(actualCents), hold.release() or hold.keep() before the response`,
  )
}
