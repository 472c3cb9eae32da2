import { allow } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, type Success, operation, readOperation } from '@gatewright/host'
import { component, text } from '@gatewright/host/schemas'
import { deny } from '../../product/denials.ts'
import type { AgreementAcceptances } from '../agreement-acceptances.ts'

/** What the operations of onboarding work with. */
interface OnboardingServices extends Pick<HostServices, 'db'> {
  readonly acceptances: AgreementAcceptances
}

/** The steps in their order, each with the operation that completes it. The last two can be skipped. */
const STEPS = [
  ['wallet', 'auth.bootstrap'],
  ['kyc', 'kyc.submit'],
  ['agreements', 'agreements.accept'],
  ['funding', 'deposits.create'],
  ['card', 'cards.create'],
] as const
type Step = (typeof STEPS)[number][0]
const OPTIONAL: readonly Step[] = ['funding', 'card']

const StepSchema = Type.Object(
  {
    step: text('Names the step'),
    status: Type.Enum(['done', 'open', 'skipped']),
    operation: text('What does the step'),
  },
  component('OnboardingStep', 'A step of the way in'),
)
const ResponseData = Type.Object(
  {
    steps: Type.Array(StepSchema, { maxItems: STEPS.length }),
    next: Type.Union([Type.String(), Type.Null()], { description: 'The first open step' }),
  },
  component('Onboarding', 'The steps of the way in, and which is next'),
)
const example = {
  steps: [
    { step: 'wallet', status: 'done' as const, operation: 'auth.bootstrap' },
    { step: 'kyc', status: 'open' as const, operation: 'kyc.submit' },
  ],
  next: 'kyc',
}
// The first credit of an account has one of these types and precedes all debits of these types, so that the query reads few
// rows.
const FUNDED = `select 1 from gw_transactions where account_id = $1 and type in ('collateral', 'payment')
  and direction = 'credit' and status = 'completed' limit 1`
const FACTS = `select u.kyc_status, u.skipped_steps,
    (select count(*) from gw_cards c where c.account_id = u.account_id) as cards,
    (select count(*) from (${FUNDED}) credit) as funded
  from gw_users u where u.account_id = $1`

/** `GET /user/v1/onboarding` derives the steps from what the account has done; `POST /user/v1/onboarding/{step}` skips an optional one. */
export function onboardingOperations(services: OnboardingServices): Operation[] {
  const { db } = services
  const shared = { surface: 'user', response: ResponseData } as const
  return [
    readOperation({
      ...shared,
      id: 'onboarding.read',
      title: 'Read the steps of the way in',
      example,
      paths: ['/user/v1/onboarding'],
      scopes: ['onboarding.read'],
      read: ({ accountId }) => read(services, accountId),
    }),
    operation({
      ...shared,
      id: 'onboarding.skip',
      title: 'Skip an optional step',
      example: { response: example },
      method: 'POST',
      credential: 'session',
      paths: ['/user/v1/onboarding/{step}'],
      scopes: ['onboarding.write'],
      async handle({ caller, params }) {
        const { accountId } = caller.session
        const found = STEPS.find(([step]) => step === params['step'])
        if (!found) return deny('not_found', 'no such step')
        const [step, completedBy] = found
        if (!OPTIONAL.includes(step))
          return deny('invalid_request', `step ${step} cannot be skipped: ${completedBy} does it`, {
            field: 'step',
          })
        await skip(db, accountId, step)
        return allow(await read(services, accountId))
      },
    }),
  ]
}

/** Skips a step, in one statement, so that of two simultaneous skips none is lost. */
async function skip(db: SqlQueries, accountId: string, step: Step): Promise<void> {
  const text = `update gw_users set skipped_steps = skipped_steps || $2
    where account_id = $1 and skipped_steps not like $3`
  await rows(db, text, [accountId, `${step} `, `%${step}%`])
}

async function read({ db, acceptances }: OnboardingServices, accountId: string): Promise<Success> {
  const [row = {}] = await rows(db, FACTS, [accountId])
  const skipped = toText(row['skipped_steps'])
  const done: Readonly<Record<Step, boolean>> = {
    wallet: true,
    kyc: row['kyc_status'] === 'approved',
    agreements: (await acceptances.acceptedAt(db, accountId)) !== undefined,
    funding: Number(row['funded']) > 0,
    card: Number(row['cards']) > 0,
  }
  const steps = STEPS.map(([step, completedBy]) => {
    const open = skipped.includes(step) ? 'skipped' : 'open'
    return { step, status: done[step] ? 'done' : open, operation: completedBy }
  })
  const next = steps.find(({ status }) => status === 'open')?.step ?? null
  return {
    data: { steps, next },
    summary: next === null ? 'Nothing is left to do.' : `The next step is ${next}.`,
  }
}
