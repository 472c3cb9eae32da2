import { allow, type Verdict } from '@gatewright/kernel'
import type { Access, Approval } from '@gatewright/scope-guard'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, type Success, operation } from '@gatewright/host'
import { callerOf, counted, isKeySession } from '@gatewright/host/internal'
import { component, instant, text } from '@gatewright/host/schemas'
import { deny } from '../../product/denials.ts'
import { invalidState } from '../invalid-state.ts'
import { AT, key, LATER } from '../examples.ts'
import { endOf } from '../requests/decide-again.ts'

/** What the operations on approvals work with. */
type ApprovalServices = Pick<HostServices, 'guard' | 'issuer' | 'clock'>

const ApprovalSchema = Type.Object(
  {
    id: text('The `approvalId` of the refusal'),
    state: Type.Enum(['pending', 'approved', 'denied', 'used'], { description: 'What was decided' }),
    keyId: text('The key that asks'),
    operation: text('What it would do'),
    payee: Type.Array(Type.String(), { maxItems: 16, description: 'Whom it would pay, by every name' }),
    amountCents: Type.Integer({ description: 'Minor units of the currency' }),
    currency: text('ISO 4217'),
    requestedAt: instant('When it was asked for'),
    expiresAt: instant('From then on it can be neither decided nor used'),
  },
  component('Approval', 'A payment that waits for the owner of the account, or was decided'),
)
/** The largest `mostOpen` that a guard may have. */
const MOST_OPEN = 100
const List = Type.Object(
  { approvals: Type.Array(ApprovalSchema, { maxItems: MOST_OPEN }) },
  component('ApprovalList', 'The open approvals that the caller may decide, oldest first'),
)
const Decided = Type.Object({ approval: ApprovalSchema }, component('DecidedApproval', 'The approval'))
const example = {
  id: 'apr_q8yIuSBlGzyzJqWfbEMiT6hPlTGc6CqkZ6dSkbGtXx4',
  state: 'pending' as const,
  keyId: key.userKeyId,
  operation: 'payments.create',
  payee: ['account:acc_5Qz'],
  amountCents: 6000,
  currency: 'USD',
  requestedAt: AT,
  expiresAt: LATER,
}
const common = {
  surface: 'user',
  credential: 'session',
  scopes: ['approvals.write'],
} as const

/** `GET /user/v1/approvals`, and `POST` of a decision: for sessions of a key above the key that asks, and for the console. */
export function approvalOperations(services: ApprovalServices): Operation[] {
  return [list(services), decision(services, 'approve'), decision(services, 'deny')]
}

function list(services: ApprovalServices): Operation {
  return operation({
    ...common,
    id: 'approvals.list',
    title: 'List payments that wait for an approval',
    details: 'Those that the caller may decide: of keys below it, under policies that do not bind it.',
    method: 'GET',
    paths: ['/user/v1/approvals'],
    response: List,
    example: { response: { approvals: [example] } },
    async handle({ caller }) {
      const mayDecide = await decisionsOf(services, caller)
      if (!mayDecide.ok) return mayDecide
      const open = (await services.guard.approvals?.list(caller.session.accountId)) ?? []
      const approvals = open.filter(mayDecide.value).map(approvalData)
      return allow({ data: { approvals }, summary: `${counted(approvals.length, 'approvals')}.` })
    },
  })
}

function decision(services: ApprovalServices, name: 'approve' | 'deny'): Operation {
  const state = name === 'approve' ? 'approved' : 'denied'
  return operation({
    ...common,
    id: `approvals.${name}`,
    title: name === 'approve' ? 'Approve a payment' : 'Deny a payment',
    details: 'Of two decisions at once one counts, and the other is 400 `invalid_request`.',
    method: 'POST',
    paths: [`/user/v1/approvals/{id}/${name}`],
    unknownMembers: 'deny',
    personOnly: true,
    response: Decided,
    denies: [404],
    example: { response: { approval: { ...example, state } } },
    async handle({ caller, params }): Promise<Verdict<Success>> {
      const mayDecide = await decisionsOf(services, caller)
      if (!mayDecide.ok) return mayDecide
      const id = params['id'] as string
      const { accountId } = caller.session
      const asked = await services.guard.approvals?.find(accountId, id)
      if (!asked || !mayDecide.value(asked)) return notFound
      const decided = await services.guard.approvals?.[name](accountId, id, deciderOf(caller))
      if (decided === undefined || decided.outcome === 'gone') return notFound
      const { approval } = decided
      if (decided.outcome === 'already' && approval.state !== state)
        return invalidState('user', `this payment was ${approval.state} before`, 'id')
      return allow({ data: { approval: approvalData(approval) }, summary: `The payment is ${state}.` })
    },
  })
}

const notFound = deny('not_found', 'no approval that the caller may decide has this id')

/** Returns who decides, as `approvalsWithEvents` reads it. */
function deciderOf({ session }: Access): string {
  const { keyId, sessionId } = session
  return JSON.stringify(
    isKeySession(session) ? { by: 'key', keyId, sessionId: null } : { by: 'session', keyId, sessionId },
  )
}

/** Returns what a caller may decide: approvals of a live key below its own, or for a console of any key, under policies that do not bind the caller. */
async function decisionsOf(
  { issuer, clock }: ApprovalServices,
  caller: Access,
): Promise<Verdict<(approval: Approval) => boolean>> {
  const { keyId, policyIds } = caller.session
  const visible = await issuer.visibleKeys(callerOf(caller))
  if (!visible.ok) return visible
  const own = visible.value.find(each => each.id === keyId)
  const below = visible.value.filter(
    each =>
      own &&
      endOf(each, clock.now()) === undefined &&
      each.lineageId !== own.lineageId &&
      (own.console || each.ancestry.includes(own.lineageId)),
  )
  const keys = new Set(below.map(each => each.id))
  return allow(
    ({ request }) => keys.has(request.keyId) && !request.policyIds.some(id => policyIds.includes(id)),
  )
}

function approvalData({ id, state, request, requestedAt, expiresAt }: Approval) {
  const { keyId, operation: asked, payee, amountCents, currency } = request
  return {
    id,
    state,
    keyId,
    operation: asked,
    payee: [...payee],
    amountCents,
    currency,
    requestedAt: new Date(requestedAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  }
}
