import { allow, type Verdict } from '@gatewright/kernel'
import type { Access } from '@gatewright/scope-guard'
import type { ApiKey } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, operation } from '@gatewright/host'
import {
  callerOf,
  createdRange,
  pageParameters,
  positionCursor,
  rangeOf,
  readPositionCursor,
  REQUEST_OUTCOMES,
  requests,
  counted,
} from '@gatewright/host/internal'
import { component, nextCursor } from '@gatewright/host/schemas'
import { deny } from '../../product/denials.ts'
import { keyFilter } from '../transactions/filters.ts'
import { decideAgain, DecidedNow } from './decide-again.ts'
import { exampleRequest, requestData, RequestSchema } from './fields.ts'

/** What the operations on kept requests work with. */
type RequestServices = Pick<
  HostServices,
  'db' | 'issuer' | 'guard' | 'requestLog' | 'operationRules' | 'clock'
>

const List = Type.Object(
  { requests: Type.Array(RequestSchema), nextCursor },
  component('KeptRequestList', 'A page of requests, newest first'),
)
const OneRequest = Type.Object(
  {
    request: RequestSchema,
    now: Type.Union([DecidedNow, Type.Null()], {
      description:
        'What would be decided now; null where no key of the user surface was used, or it ended so long ago that it is no longer kept',
    }),
  },
  component('KeptRequestResponse', 'A request, and what would be decided about it now'),
)
const common = { surface: 'user', method: 'GET', credential: 'session', scopes: ['keys.read'] } as const

/**
 * `GET /user/v1/requests` and `GET /user/v1/requests/{requestId}`: what was decided about the requests of the account. A root key and a
 * console see all of them, any other key its own and those of the keys below it.
 */
export function requestOperations(services: RequestServices): Operation[] {
  return [listRequests(services), readRequest(services)]
}

function listRequests({ db, issuer, requestLog }: RequestServices): Operation {
  return operation({
    ...common,
    id: 'requests.list',
    title: 'List requests',
    details: 'The requests of the account and what was decided about them, newest first.',
    paths: ['/user/v1/requests'],
    query: Type.Object({
      ...pageParameters(100, 50),
      ...createdRange,
      outcome: Type.Optional(
        Type.Enum([...REQUEST_OUTCOMES], {
          description: '`refused` are denials, `limited` those of a rate limit, `failed` those of the host',
          expected: `must be one of ${REQUEST_OUTCOMES.join(', ')}`,
        }),
      ),
      operation: Type.Optional(
        Type.String({
          pattern: '^[a-z][A-Za-z-]{0,39}[.][A-Za-z-]{1,40}$',
          description: 'Only requests of this operation',
          expected: 'must be the name of an operation, such as payments.create',
        }),
      ),
      rule: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z_]{1,80}$',
          description: 'Only those that this policy rule blocked',
          expected: 'must be the name of a rule, such as dailySpendCapCents',
        }),
      ),
      keyId: keyFilter,
    }),
    response: List,
    example: { response: { requests: [exampleRequest], nextCursor: null } },
    async handle({ caller, query: { limit, cursor, keyId, from, to, ...filter } }) {
      const start = readPositionCursor(cursor)
      if (!start.ok) return start
      const range = rangeOf({ from, to })
      if (!range.ok) return range
      const visible = await visibleKeys(issuer, caller)
      if (!visible.ok) return visible
      const { keys, isRoot } = visible.value
      // What the caller did a moment ago is still in the buffer of this host. If it cannot be written, the list says what is stored.
      await requestLog.flush().catch(() => {})
      const ids = keys.map(({ id }) => id)
      const keyIds = keyId === undefined ? (isRoot ? undefined : ids) : keysOf(keyId, isRoot, ids)
      const { accountId } = caller.session
      const found = await requests.list(db, {
        ...filter,
        ...start.value,
        ...range.value,
        accountId,
        keyIds,
        limit: limit + 1,
      })
      const page = found.slice(0, limit)
      const last = found.length > limit ? page.at(-1) : undefined
      return allow({
        data: { requests: page.map(requestData), nextCursor: last ? positionCursor(last) : null },
        summary: `${counted(page.length, 'requests')}.`,
      })
    },
  })
}

function readRequest(services: RequestServices): Operation {
  const { db, issuer, requestLog } = services
  return operation({
    ...common,
    id: 'requests.read',
    title: 'Get a request',
    details: 'What was decided about it, and what would be decided now.',
    paths: ['/user/v1/requests/{requestId}'],
    response: OneRequest,
    example: {
      response: {
        request: exampleRequest,
        now: { allowed: true, error: null, rule: null, message: null },
      },
    },
    denies: [404],
    async handle({ caller, params, facts }) {
      const visible = await visibleKeys(issuer, caller)
      if (!visible.ok) return visible
      const { keys, isRoot } = visible.value
      await requestLog.flush().catch(() => {})
      const found = await requests.find(db, caller.session.accountId, params['requestId'] as string)
      const key = keys.find(({ id }) => id === found?.keyId)
      if (!found || !(isRoot || key)) return deny('not_found', 'No kept request of yours has this id.')
      const now = key ? await decideAgain(services, found, key, facts) : undefined
      return allow({
        data: { request: requestData(found), now: now ?? null },
        summary: found.message ?? 'The request was allowed.',
      })
    },
  })
}

/** Returns the keys that a caller may see, and whether these are all keys of the account. */
async function visibleKeys(
  issuer: HostServices['issuer'],
  access: Access,
): Promise<Verdict<{ readonly keys: readonly ApiKey[]; readonly isRoot: boolean }>> {
  const caller = callerOf(access)
  const visible = await issuer.visibleKeys(caller)
  if (!visible.ok) return visible
  const own = visible.value.find(({ id }) => id === access.session.keyId)
  return allow({ keys: visible.value, isRoot: own?.ancestry.length === 0 })
}

/** Returns the keys of a filter: the one that is asked for, if the caller may see it. */
function keysOf(keyId: string, isRoot: boolean, ids: readonly string[]): readonly string[] {
  return isRoot || ids.includes(keyId) ? [keyId] : []
}
