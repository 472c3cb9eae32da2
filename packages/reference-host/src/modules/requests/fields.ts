import * as Type from 'typebox/type'
import { counterOwner } from '@gatewright/kernel/internal'
import { component, instant, text, textOrNull } from '@gatewright/host/schemas'
import { type RecordedRequest, type requests } from '@gatewright/host/internal'
import { AT, key } from '../examples.ts'

/** Schema of a kept request in lists. */
export const RequestSchema = Type.Object(
  {
    id: text('The `X-Request-Id` of the response'),
    createdAt: instant('When the response was sent'),
    method: text('The HTTP method'),
    operation: text('What was requested, such as `cards.create`'),
    title: text('The same in words for people, such as "Make a card"'),
    keyId: textOrNull('The key that was used, directly or by a session'),
    sessionId: textOrNull('The session that was used'),
    status: Type.Integer({ description: 'The status of the response' }),
    error: textOrNull('The code of the error; null for a success'),
    rule: textOrNull('The policy rule that blocked the request'),
    message: textOrNull('What the response said'),
    field: textOrNull('The member of the request that the error names'),
    policyKeyId: textOrNull('The key whose policy blocked the request: its id before any rotation'),
    details: Type.Unknown({
      description: 'The facts of the error, such as `remaining` and `resetsAt`; null for none',
    }),
    replayed: Type.Boolean({
      description: 'Whether the response is that of an earlier request with the same idempotency key',
    }),
    byTool: Type.Boolean({ description: 'Whether it was a call of a tool (`POST /mcp`)' }),
    durationMs: Type.Number({ description: 'How long the host worked on it, in ms' }),
  },
  component('KeptRequest', 'A request and what was decided about it. No body, no path and no credential'),
)

/** A refused withdrawal, for the API description. */
export const exampleRequest: Type.Static<typeof RequestSchema> = {
  id: '0ffe0345-6c0a-4d53-8a4e-6f4f8a3a2b11',
  createdAt: AT,
  method: 'POST',
  operation: 'withdrawals.create',
  title: 'Withdraw money',
  keyId: key.userKeyId,
  sessionId: '9QmZr0c2VbN4xWtYkLs7Pd',
  status: 403,
  error: 'policy_blocked',
  rule: 'dailyWithdrawalCapCents',
  message:
    'Withdrawals with this key are limited to 500.00 USD a day: 165.00 USD left, 450.00 USD requested. It resets at 00:00 UTC.',
  field: null,
  policyKeyId: key.userKeyId,
  details: {
    rule: 'dailyWithdrawalCapCents',
    window: 'day',
    unit: 'cents',
    remaining: 16_500,
    requested: 45_000,
    limit: 50_000,
  },
  replayed: false,
  byTool: false,
  durationMs: 3.2,
}

/** Which kept requests a list shows. */
export type RequestFilter = Parameters<typeof requests.list>[1]

/** The titles of operations by their ids. */
export type OperationTitles = ReadonlyMap<string, string>

/** Returns the words for what was requested: the title of the operation, or its id if this version has no such operation. */
export const titleOf = (titles: OperationTitles, operation: string): string =>
  titles.get(operation) ?? operation

/** Converts a kept request for responses. The exact cause is left out: it is for the operator. */
export function requestData(
  row: RecordedRequest,
  titles: OperationTitles,
): Type.Static<typeof RequestSchema> {
  return { ...recordedData(row), title: titleOf(titles, row.operation) }
}

function recordedData(row: RecordedRequest): Omit<Type.Static<typeof RequestSchema>, 'title'> {
  return {
    id: row.id,
    createdAt: new Date(row.at).toISOString(),
    method: row.method,
    operation: row.operation,
    keyId: row.keyId,
    sessionId: row.sessionId,
    status: row.status,
    error: row.code,
    rule: row.rule,
    message: row.message,
    field: row.field,
    policyKeyId: policyKeyOf(row.details),
    details: row.details,
    replayed: row.replayed,
    byTool: row.byTool,
    durationMs: row.durationUs / 1000,
  }
}

/** What the operator sees of a kept request: also the account, the kind of credential and the exact cause. */
export type OperatorRequest = ReturnType<typeof recordedData> & {
  /** Null: the caller had no verified credential. */
  readonly accountId: string | null
  readonly credential: string | null
  readonly reason: string | null
}

/** Converts a kept request for operators. Commands know no titles: they open no operations. */
export function operatorRequestData(row: RecordedRequest): OperatorRequest {
  const { accountId, credential, reason } = row
  return { ...recordedData(row), accountId: accountId || null, credential, reason }
}

/** Returns the key whose policy blocked: the first of its lineage. Null: no policy blocked, or that of a session. */
function policyKeyOf(details: RecordedRequest['details']): string | null {
  const policyId = details?.['policyId']
  if (typeof policyId !== 'string') return null
  const owner = counterOwner(policyId)
  return owner === policyId ? null : owner.replace(/^pol_/, '')
}
