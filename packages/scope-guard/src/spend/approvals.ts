import { keyDigest } from '@gatewright/kernel'
import {
  approvalDenied,
  approvalRequired,
  blocked,
  counterBlock,
  withEvidence,
  type SpendAccess,
} from '../access.ts'
import type { SpendDenial } from '../codes.ts'
import type { Block } from '../policies/predicates.ts'
import type { Approval, ApprovalRequest, ApprovalStorage, DecideOutcome } from '../storage/approvals-port.ts'
import type { ApprovedFor, CheckedApprovals } from './approval-options.ts'
import { withinTime } from '../timeout.ts'
import type { Amount } from './amount.ts'
import { readOver } from './over.ts'
import { planSpend, type SpendDependencies } from './plan.ts'

/** A spend that must be approved. */
export interface Asked {
  /** Why: the lowest threshold that the amount exceeds, and the amount. */
  readonly block: Block
  /** The policies whose thresholds the spend exceeds. */
  readonly policyIds: readonly string[]
  /** Absent: nobody can approve it, because the guard stores no approvals, or the spend names no request. */
  readonly approvable?: {
    readonly id: string
    readonly request: ApprovalRequest
    readonly effectId: string
    readonly options: CheckedApprovals
  }
}

/** A spend with the request that it belongs to. */
type AskingSpend = Amount & { readonly approval?: ApprovedFor }

/** Returns what must be approved before a spend that exceeds thresholds; undefined for none. */
export function askedOf(
  { session: { accountId }, rule: { operation }, evidence }: SpendAccess,
  { amountCents, currency, payee = [], approval }: AskingSpend,
  thresholds: readonly Block[],
  options: CheckedApprovals | undefined,
): Asked | undefined {
  const [block] = thresholds
  if (!block) return undefined
  const policyIds = [...new Set(thresholds.map(({ policyId }) => policyId))].sort()
  if (!approval || !options || !evidence) return { block, policyIds }
  const { keyId } = evidence
  const request = { accountId, keyId, operation, payee: [payee].flat(), amountCents, currency, policyIds }
  const bound = [accountId, keyId, operation, request.payee, amountCents, currency, policyIds]
  const id = `apr_${keyDigest(JSON.stringify([approval.requestId, ...bound]))}`
  return { block, policyIds, approvable: { id, request, effectId: approval.effectId, options } }
}

/** Returns the denial of a spend that is not approved; undefined if it is approved, or was used. `use` decides for which effect. */
export async function denialUntilApproved(
  asked: Asked,
  { clock, timeoutMs }: SpendDependencies,
  storage: ApprovalStorage | undefined,
): Promise<SpendDenial | undefined> {
  const { block, approvable } = asked
  if (!approvable) return approvalRequired(block)
  const { id, request, options } = approvable
  const store = storage ?? options.store
  const found = await withinTime('approval store', timeoutMs, () =>
    store.find(request.accountId, id, clock.now()),
  )
  if (found?.state === 'approved' || found?.state === 'used') return undefined
  return found?.state === 'denied' ? approvalDenied(block, found) : approvalRequired(block)
}

/** Uses the approval of a spend for its effect. False: it may not be used, or no longer. */
export async function useApproval(
  { approvable }: Asked,
  { clock, timeoutMs }: SpendDependencies,
  storage: ApprovalStorage | undefined,
): Promise<boolean> {
  if (!approvable) return false
  const { id, request, effectId, options } = approvable
  const store = storage ?? options.store
  return withinTime('approval store', timeoutMs, () =>
    store.use(request.accountId, id, effectId, clock.now()),
  )
}

/** Implements `Guard.requestApproval`. */
export async function requestApproval(
  access: SpendAccess,
  spend: AskingSpend,
  dependencies: SpendDependencies,
): Promise<SpendDenial> {
  const plan = await planSpend(access, spend, dependencies)
  if ('ok' in plan) return withEvidence(plan, access.evidence)
  const { asking } = await readOver(
    access,
    plan.items.filter(({ asks }) => asks),
    dependencies,
  )
  const thresholds = [...plan.caps.asking(plan.cents), ...asking]
  const asked = askedOf(access, spend, thresholds, dependencies.approvals)
  const counted = plan.items.find(({ asks }) => asks)
  // The window has room again: the same request may be made without an approval.
  if (!asked && counted && dependencies.approvals && spend.approval)
    return withEvidence(approvalRequired(counterBlock(counted, { used: 0 }).block), access.evidence)
  if (!asked?.approvable)
    throw new TypeError(
      'requestApproval needs the option approvals, and a spend with approval that reserve has denied with approval_required',
    )
  return withEvidence(await openApproval(asked.block, asked.approvable, dependencies), access.evidence)
}

async function openApproval(
  block: Block,
  { id, request, options }: NonNullable<Asked['approvable']>,
  { clock, timeoutMs }: SpendDependencies,
): Promise<SpendDenial> {
  const { store, url, lifetimeSeconds, mostOpen } = options
  const requestedAt = clock.now()
  const expiresAt = requestedAt + 1000 * lifetimeSeconds
  const opened = await withinTime('approval store', timeoutMs, () =>
    store.open({ id, request, requestedAt, expiresAt }, mostOpen),
  )
  if (opened.outcome === 'full') return blocked({ ...block, mostOpen })
  const { approval } = opened
  return approval.state === 'denied'
    ? approvalDenied(block, approval)
    : approvalRequired(block, approval, url(approval))
}

/** What the owner of an account decides with: `Guard.approvals`. */
export interface Approvals {
  /** Lists the open approvals of an account, oldest first. */
  list(accountId: string): Promise<readonly Approval[]>
  /** Returns an approval that has not expired, also one that was decided or used. */
  find(accountId: string, id: string): Promise<Approval | undefined>
  /**
   * Approves. `by` says who, for the record. Call it only for somebody who is above the key that asks, and whom none of `request.policyIds` binds: an agent that
   * approves its own request is bound by nothing.
   */
  approve(accountId: string, id: string, by: string): Promise<DecideOutcome>
  /** Denies. The request is then denied with `approval_denied` until the approval would have expired. */
  deny(accountId: string, id: string, by: string): Promise<DecideOutcome>
}

/** Makes `Guard.approvals`. */
export function approvalsOf({ store }: CheckedApprovals, { clock, timeoutMs }: SpendDependencies): Approvals {
  const decide = (state: 'approved' | 'denied') => (accountId: string, id: string, by: string) =>
    APPROVAL_ID.test(id)
      ? withinTime('approval store', timeoutMs, () => store.decide(accountId, id, { state, by }, clock.now()))
      : Promise.resolve({ outcome: 'gone' } as const)
  return {
    list: accountId => withinTime('approval store', timeoutMs, () => store.list(accountId, clock.now())),
    find: async (accountId, id) =>
      APPROVAL_ID.test(id)
        ? withinTime('approval store', timeoutMs, () => store.find(accountId, id, clock.now()))
        : undefined,
    approve: decide('approved'),
    deny: decide('denied'),
  }
}

/** What `askedOf` makes. Any other text names no approval, and stores need not keep it. */
const APPROVAL_ID = /^apr_[\w-]{43}$/
