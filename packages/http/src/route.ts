import type { Denial, EpochMs, Verdict } from '@gatewright/kernel'
import { denialAnswer, faultAnswer, wire, withFields, type HeaderField } from './answer.ts'
import { parseJsonObject } from './body.ts'
import { failure } from './enter.ts'
import type { RequestFacts } from './facts.ts'
import type { Settings } from './options.ts'
import type { AccessLike, ClaimLike, GuardedRule, IdempotencyPart, WireAnswer } from './parts.ts'
import type { Admitted, Authorised, OpenCall, Route, Stage } from './stages.ts'

/** What the steps of a route work with. */
export interface Works {
  readonly settings: Settings
  readonly check?: (facts: RequestFacts) => Verdict<AccessLike> | Promise<Verdict<AccessLike>>
  readonly idempotency?: IdempotencyPart
  readonly accountOf: (access: AccessLike) => string
}

type Ending = Pick<Admitted<never>, 'settle' | 'fail'>

/** What `admit` has decided, before the fields of guard and aliases are put on. */
interface Started {
  readonly call: object
  readonly ending: Ending
}

/** Makes the steps of one operation, in the one right order: guard, then the body, then the idempotency record. */
export function makeRoute<C extends OpenCall>(rule: GuardedRule, works: Works): Route<C> {
  const { settings, check, idempotency } = works
  const { operation } = rule
  return {
    operation,
    idempotent: idempotency !== undefined,

    async authorise(entered) {
      if (!check) return { ok: true, value: entered }
      const { facts, fields } = entered
      const refuse = (answer: WireAnswer): Stage<never> => ({ ok: false, answer: withFields(answer, fields) })
      try {
        const verdict = await check(facts)
        if (verdict.ok) return { ok: true, value: { access: verdict.value, ...entered } }
        return refuse(rendered(settings, facts, verdict))
      } catch (error) {
        return refuse(failure(settings, operation, facts, error))
      }
    },

    async admit(authorised, readBody, signal) {
      const { facts, access } = authorised
      const fields = access ? [...authorised.fields, ...access.headers] : authorised.fields
      const put = async (answer: WireAnswer | Promise<WireAnswer>): Promise<WireAnswer> =>
        withFields(await answer, fields)
      try {
        const body = await readBody()
        const started = body.ok ? await start(operation, works, authorised, body.value, signal) : body
        if ('status' in started) {
          const answer = 'ok' in started ? rendered(settings, facts, started) : started
          return { ok: false, answer: await put(answer) }
        }
        const { call, ending } = started
        const settle: Ending['settle'] = answer => put(ending.settle(answer))
        const fail: Ending['fail'] = error => put(ending.fail(error))
        return { ok: true, value: { call: call as C, fields, settle, fail } }
      } catch (error) {
        return { ok: false, answer: await put(failure(settings, operation, facts, error)) }
      }
    },
  }
}

function rendered(settings: Settings, facts: RequestFacts, denial: Denial): WireAnswer {
  return wire(denialAnswer(denial, settings.shapeOf(facts)))
}

/** Builds the call, and for an idempotent write begins its record. A replay is an answer, a refusal a denial. */
async function start(
  operation: string,
  works: Works,
  { facts, access }: Authorised,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<Started | Denial | WireAnswer> {
  const { settings, idempotency, accountOf } = works
  const json: OpenCall['json'] = () => parseJsonObject(body, facts.header('content-type'))
  const open: OpenCall = { facts, body, json, signal }
  const fail: Ending['fail'] = async error => failure(settings, operation, facts, error)
  if (!access) return { call: open, ending: { settle: async answer => answer, fail } }
  const guarded = { access, session: access.session, ...open }
  if (!idempotency) return { call: guarded, ending: { settle: async answer => answer, fail } }
  const begun = await idempotency.begin({
    account: accountOf(access),
    operation,
    key: facts.header('idempotency-key'),
    method: facts.method,
    body,
  })
  if (!begun.ok) return begun
  if (begun.value.state === 'replay') {
    const { answer, expiresAt } = begun.value
    return withFields(answer, [['Idempotency-Replayed', 'true'], ...expiry(expiresAt)])
  }
  const { claim } = begun.value
  const effect = { effectId: claim.effectId, fence: claim.fence }
  return { call: { effect, ...guarded }, ending: recordedEnding(operation, works, facts, claim, idempotency) }
}

/** Tells the client until when the same key gets this answer. */
function expiry(expiresAt: EpochMs | undefined): readonly HeaderField[] {
  return expiresAt === undefined ? [] : [['Idempotency-Expires', new Date(expiresAt).toUTCString()]]
}

/** How the run of an idempotent write ends, whether or not the client is still there. */
function recordedEnding(
  operation: string,
  { settings }: Works,
  facts: RequestFacts,
  claim: ClaimLike,
  idempotency: IdempotencyPart,
): Ending {
  const settle: Ending['settle'] = async answer => {
    try {
      const { state, expiresAt } = await idempotency.complete(claim, answer)
      if (state !== 'late') return withFields(answer, expiry(expiresAt))
      settings.report({ operation, error: new Error('the run outlived its lease: raise lockMs') })
      return wire(faultAnswer({ retryAfterSeconds: 1 }, settings.shapeOf(facts)))
    } catch (error) {
      settings.report({ operation, error })
      return answer
    }
  }
  return { settle, fail: error => settle(failure(settings, operation, facts, error)) }
}
