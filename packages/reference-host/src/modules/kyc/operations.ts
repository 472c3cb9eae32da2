import { setTimeout as sleep } from 'node:timers/promises'
import { allow } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import type { SqlQueries } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, type Success, operation, readOperation } from '@gatewright/host'
import { component, nameText } from '@gatewright/host/schemas'
import { deny } from '../../product/denials.ts'
import { invalidState } from '../invalid-state.ts'
import { applyReferral } from '../referrals/store.ts'
import * as examples from './examples.ts'
import { KycBody, present, readApplication } from './fields.ts'
import { SUBMIT_JOB } from './job.ts'
import { DECIDED_STATUSES } from './states.ts'
import { kycValues } from './values.ts'
import { KycResponse, kycData, spelledFor, statusOf } from './wire.ts'
import type { KycRecords } from './records.ts'
import type { AgreementAcceptances } from '../agreement-acceptances.ts'
import type { KycProvider } from '../../providers/kyc/port.ts'

/** What the operations of the identity check work with. */
interface KycServices extends Pick<HostServices, 'db' | 'clock' | 'jobs' | 'environment'> {
  readonly kyc: KycRecords
  readonly acceptances: AgreementAcceptances
  readonly providers: { readonly kyc?: KycProvider }
}

/** How long a response waits for the provider. */
const WAIT_MS = 2000
const SURFACES: readonly Surface[] = ['user', 'partner']

/**
 * Makes the operations of identity checks on both surfaces: `kyc.submit` only with a provider, `kyc.simulate` only in a
 * sandbox.
 */
export function kycOperations(services: KycServices): Operation[] {
  return SURFACES.flatMap(surface => [
    kycValues(surface),
    ...(services.providers.kyc ? [submit(surface, services)] : []),
    status(surface, services),
    ...(services.environment === 'sandbox' ? [simulate(surface, services)] : []),
  ])
}

async function responseOf(
  surface: Surface,
  { kyc, acceptances, ...services }: Pick<KycServices, 'db' | 'kyc' | 'acceptances'>,
  accountId: string,
  db: SqlQueries = services.db,
): Promise<Success> {
  const [state, acceptedAt] = [await kyc.read(db, accountId), await acceptances.acceptedAt(db, accountId)]
  const next = state.status === 'approved' ? { next: `POST /${surface}/v1/agreements` } : {}
  return {
    data: kycData(surface, state, acceptedAt !== undefined),
    summary: `The identity check is ${spelledFor(surface, state.status)}.`,
    ...(acceptedAt === undefined ? next : {}),
  }
}

/**
 * `kyc.submit`: commits the application and the job that calls the provider, then waits up to `WAIT_MS` for the outcome of
 * that job.
 */
function submit(
  surface: Surface,
  services: Pick<KycServices, 'db' | 'clock' | 'jobs' | 'kyc' | 'acceptances'>,
): Operation {
  const { db, clock, kyc, jobs } = services
  return operation({
    id: 'kyc.submit',
    personOnly: true,
    title: 'Apply for the check of the identity',
    surface,
    method: 'POST',
    paths: [surface === 'user' ? '/user/v1/kyc' : '/partner/v1/kyc/applications'],
    credential: 'session',
    scopes: ['kyc.write'],
    body: KycBody[surface],
    response: KycResponse[surface],
    example: { body: examples.application, response: examples.response[surface] },
    ...(surface === 'partner' ? { denies: [409] } : {}),
    async handle({ caller, body }) {
      const { accountId } = caller.session
      const now = clock.now()
      const application = readApplication(body as never, now)
      if (!application.ok) return application
      const submitted = await db.transaction(async tx => {
        const result = await kyc.submit(tx, accountId, application.value, now)
        if (result.outcome !== 'submitted') return result
        await jobs.add(tx, { kind: SUBMIT_JOB, accountId, subjectId: result.id }, now)
        const referralCode = present((body as { readonly referralCode?: string | null }).referralCode)
        // The denial for an invalid code is ignored, because it must not prevent the identity check.
        if (referralCode !== null) await applyReferral(tx, accountId, referralCode.toUpperCase())
        return result
      })
      if (submitted.outcome === 'invalid_state') {
        const status = spelledFor(surface, submitted.status)
        return invalidState(surface, `an application that is ${status} cannot be submitted`, 'status')
      }
      if (submitted.outcome === 'submitted') {
        const timer = new AbortController()
        const timeUp = sleep(WAIT_MS, undefined, { signal: timer.signal }).catch(() => {})
        await Promise.race([jobs.runNow({ kind: SUBMIT_JOB, accountId, subjectId: submitted.id }), timeUp])
        timer.abort()
      }
      return allow(await responseOf(surface, services, accountId))
    },
  })
}

function status(surface: Surface, services: Pick<KycServices, 'db' | 'kyc' | 'acceptances'>): Operation {
  const { db, kyc } = services
  return readOperation({
    id: 'kyc.status',
    title: 'Read how far the identity check is',
    surface,
    paths: [`/${surface}/v1/kyc/status`],
    scopes: ['kyc.read'],
    response: KycResponse[surface],
    example: examples.response[surface],
    ...(surface === 'user' ? { denies: [404] } : {}),
    notFound: deny('not_found', 'no application was submitted: POST /user/v1/kyc'),
    async read({ accountId }) {
      if (surface === 'user' && (await kyc.read(db, accountId)).status === 'not_submitted') return undefined
      return responseOf(surface, services, accountId)
    },
  })
}

const Decision = Type.Object(
  {
    status: Type.Enum([...new Set(DECIDED_STATUSES.flatMap(each => [spelledFor('user', each), each]))]),
    reason: Type.Optional(nameText(1, 200)),
  },
  component('KycDecision', 'What the check comes to'),
)

/** `kyc.simulate`: decides like an operator, for tests in a sandbox. */
function simulate(
  surface: Surface,
  services: Pick<KycServices, 'db' | 'clock' | 'jobs' | 'kyc' | 'acceptances'>,
): Operation {
  const { db, clock, kyc, jobs } = services
  return operation({
    id: 'kyc.simulate',
    title: 'Decide an identity check',
    details: 'As the provider of identity checks does.',
    surface,
    method: 'POST',
    paths: [`/${surface}/v1/sandbox/kyc`],
    credential: 'session',
    scopes: ['kyc.write'],
    body: Decision,
    response: KycResponse[surface],
    example: { body: { status: 'approved' }, response: examples.response[surface] },
    async handle({ caller, body }) {
      const { accountId } = caller.session
      const decision = {
        status: statusOf(body.status) ?? 'pending',
        reason: body.reason ?? null,
        cause: 'simulated',
      }
      return db.transaction(async tx => {
        const now = clock.now()
        const id = await kyc.decide(tx, accountId, decision, now)
        if (decision.status === 'pending')
          await jobs.add(tx, { kind: SUBMIT_JOB, accountId, subjectId: id }, now)
        // Read in the transaction, so that the response shows the outcome of this request and not of a later one.
        return allow(await responseOf(surface, services, accountId, tx))
      })
    },
  })
}
