import type { Denial, Verdict } from '@gatewright/kernel'
import { denialAnswer, wire, withFields } from './answer.ts'
import { parseJsonObject } from './body.ts'
import { failure } from './enter.ts'
import type { RequestFacts } from './facts.ts'
import type { Settings } from './options.ts'
import type { AccessLike, WireAnswer } from './parts.ts'
import { startRun, type Ending, type Recording, type Started } from './record.ts'
import type { Authorised, OpenCall, Route, Stage } from './stages.ts'

/** What the steps of a route work with. */
export interface Works {
  readonly settings: Settings
  readonly check?: (facts: RequestFacts) => Promise<Verdict<AccessLike>>
  /** The record of an idempotent write. */
  readonly recording?: Recording
}

/** Makes the steps of one operation, in the one right order: guard, then the body, then the idempotency record. */
export function makeRoute<C extends OpenCall>(operation: string, works: Works): Route<C> {
  const { settings, check, recording } = works
  return {
    operation,
    idempotent: recording !== undefined,

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
        return { ok: true, value: { call: call as C, fields, settle, fail, lose: ending.lose } }
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
  { settings, recording }: Works,
  { facts, access }: Authorised,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<Started | Denial | WireAnswer> {
  const json: OpenCall['json'] = () => parseJsonObject(body, facts.header('content-type'))
  const open: OpenCall = { facts, body, json, signal }
  const guarded = access && { access, session: access.session, ...open }
  if (guarded && recording) return startRun(recording, guarded)
  const fail: Ending['fail'] = async error => failure(settings, operation, facts, error)
  return { call: guarded ?? open, ending: { settle: async answer => answer, fail, lose: async () => {} } }
}
