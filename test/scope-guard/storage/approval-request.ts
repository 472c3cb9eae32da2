import type { ApprovalRequest } from '@gatewright/scope-guard'

/** A request of account `a` for an approval. */
export const request: ApprovalRequest = {
  accountId: 'a',
  keyId: 'k',
  operation: 'payments.create',
  payee: [],
  amountCents: 1,
  currency: 'USD',
  policyIds: [],
}
