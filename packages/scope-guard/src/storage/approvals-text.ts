import type { Approval, ApprovalRequest } from './approvals-port.ts'

const STATES: readonly string[] = ['pending', 'approved', 'denied', 'used'] satisfies Approval['state'][]

/** An approval as stores keep it: the request and who decided are JSON, so that they may contain any text. */
interface StoredApproval {
  readonly id: string
  readonly request: string
  readonly state: string
  readonly requestedAt: number
  readonly expiresAt: number
  readonly decidedBy: string | null
  readonly decidedAt: number | null
}

/** Writes a request as JSON, in one order of its members. */
export function requestText(request: ApprovalRequest): string {
  const { accountId, keyId, operation, payee, amountCents, currency, policyIds } = request
  return JSON.stringify({ accountId, keyId, operation, payee, amountCents, currency, policyIds })
}

/** Writes who decided. */
export const decidedText = (by: string): string => JSON.stringify(by)

/** Reads a stored approval. Undefined: a member is missing or malformed. */
export function approvalOf(stored: StoredApproval): Approval | undefined {
  const { id, state, requestedAt, expiresAt, decidedAt } = stored
  const request = parsed(stored.request)
  const decidedBy = stored.decidedBy === null ? null : parsed(stored.decidedBy)
  const isApproval =
    id !== '' &&
    isRequest(request) &&
    STATES.includes(state) &&
    Number.isSafeInteger(requestedAt) &&
    Number.isSafeInteger(expiresAt) &&
    (decidedBy === null || typeof decidedBy === 'string') &&
    (decidedAt === null || Number.isSafeInteger(decidedAt))
  if (!isApproval) return undefined
  return { id, request, state: state as Approval['state'], requestedAt, expiresAt, decidedBy, decidedAt }
}

function isRequest(value: unknown): value is ApprovalRequest {
  const { accountId, keyId, operation, payee, amountCents, currency, policyIds } = Object(
    value,
  ) as Partial<ApprovalRequest>
  return (
    [accountId, keyId, operation, currency].every(isText) &&
    Number.isSafeInteger(amountCents) &&
    [payee, policyIds].every(list => Array.isArray(list) && list.every(isText))
  )
}

const isText = (value: unknown): boolean => typeof value === 'string'

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
