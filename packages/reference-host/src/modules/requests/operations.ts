import { allow, type Verdict } from '@gatewright/kernel'
import type { Access } from '@gatewright/scope-guard'
import type { ApiKey } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, operation } from '@gatewright/host'
import {
  callerOf,
  createdRange,
  positionCursor,
  rangeOf,
  readPositionCursor,
  REQUEST_OUTCOMES,
  requests,
  counted,
  type RecordedRequest,
  searchPage,
} from '@gatewright/host/internal'
import { component, nextCursor, pageParameters } from '@gatewright/host/schemas'
import { deny } from '../../product/denials.ts'
import { csvExport } from '../csv-export.ts'
import { keyFilter } from '../transactions/filters.ts'
import { requestColumns } from './columns.ts'
import { searchFilter, searchOf, type Searched } from '../search.ts'
import { decideAgain, DecidedNow, requestedCents } from './decide-again.ts'
import { exampleRequest, requestData, RequestSchema, titleOf, type RequestFilter } from './fields.ts'

/** What the operations on kept requests work with. */
type RequestServices = Pick<
  HostServices,
  'db' | 'issuer' | 'guard' | 'requestLog' | 'operationRules' | 'operationTitles' | 'clock' | 'report'
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
  return [listRequests(services), readRequest(services), exportRequests(services)]
}

const requestFilters = {
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
  q: searchFilter,
}

function listRequests(services: RequestServices): Operation {
  const { requestLog, operationTitles } = services
  return operation({
    ...common,
    id: 'requests.list',
    title: 'List requests',
    resource: { name: 'requests', arguments: () => ({ limit: 20 }) },
    details:
      'The requests of the account and what was decided about them, newest first. What account consoles looked up is left out, unless `keyId` names the key of one.',
    paths: ['/user/v1/requests'],
    query: Type.Object({
      ...pageParameters(100, 50),
      ...createdRange,
      ...requestFilters,
    }),
    response: List,
    example: { response: { requests: [exampleRequest], nextCursor: null } },
    async handle({ caller, query: { limit, cursor, from, to, ...filter } }) {
      const start = readPositionCursor(cursor)
      if (!start.ok) return start
      const range = rangeOf({ from, to })
      if (!range.ok) return range
      const chosen = await chooseVisible(services, caller, filter)
      if (!chosen.ok) return chosen
      const page = { ...start.value, ...range.value, limit }
      // What the caller did a moment ago is still in the buffer of this host. If it cannot be written, the list says what is stored.
      await requestLog.flush().catch(() => {})
      const { rows, next } = await readPage(services, chosen.value, page)
      return allow({
        data: {
          requests: rows.map(row => requestData(row, operationTitles)),
          nextCursor: next ? positionCursor(next) : null,
        },
        summary: `${counted(rows.length, 'requests')}.`,
      })
    },
  })
}

/** `GET /user/v1/requests.csv`: the same list as a file. */
function exportRequests(services: RequestServices): Operation {
  const { requestLog, operationTitles } = services
  return csvExport<typeof requestFilters, RecordedRequest, Pick<RecordedRequest, 'at' | 'id'>>(services, {
    id: 'requests.export',
    title: 'Export requests as CSV',
    path: '/user/v1/requests.csv',
    scopes: common.scopes,
    filters: requestFilters,
    columns: requestColumns(operationTitles),
    async page(_, page, filter, caller) {
      const chosen = await chooseVisible(services, caller, filter)
      // The key of the caller has ended meanwhile: it sees nothing more.
      if (!chosen.ok) return { rows: [], next: undefined }
      if (!page.after) await requestLog.flush().catch(() => {})
      return readPage(services, chosen.value, page)
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
        data: { request: requestData(found, services.operationTitles), now: now ?? null },
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

/** Which requests a caller chose among those that it may see. */
interface Chosen {
  readonly filter: Omit<RequestFilter, 'limit'>
  readonly matches: ((row: RecordedRequest) => boolean) | undefined
}

/** Reads a page of the chosen requests, newest first, and the last row before the next page. */
async function readPage(
  { db }: Pick<RequestServices, 'db'>,
  { filter, matches }: Chosen,
  page: Pick<RequestFilter, 'limit' | 'after' | 'from' | 'to'>,
): Promise<{ readonly rows: readonly RecordedRequest[]; readonly next: RecordedRequest | undefined }> {
  const read = async (limit: number) => {
    const found = await requests.list(db, { ...filter, ...page, limit: limit + 1 })
    const rows = found.slice(0, limit)
    return { rows, next: found.length > limit ? rows.at(-1) : undefined }
  }
  return matches ? searchPage({ limit: page.limit, read, placeOf: row => row, matches }) : read(page.limit)
}

/** Adds to a filter which requests its caller may see: those of which keys. What consoles looked up is in it only if their key is chosen. */
async function chooseVisible(
  { issuer, operationTitles }: Pick<RequestServices, 'issuer' | 'operationTitles'>,
  caller: Access,
  { keyId, q, ...filter }: Type.Static<Type.TObject<typeof requestFilters>>,
): Promise<Verdict<Chosen>> {
  const visible = await visibleKeys(issuer, caller)
  if (!visible.ok) return visible
  const { keys, isRoot } = visible.value
  const ids = keys.map(({ id }) => id)
  const { accountId } = caller.session
  const keyIds = keyId === undefined ? (isRoot ? undefined : ids) : keysOf(keyId, isRoot, ids)
  const found = q === undefined ? undefined : searchOf(q)
  const labelOf = (id: string | null): string | null => keys.find(key => key.id === id)?.label ?? null
  const searchedOf = (row: RecordedRequest): Searched => ({
    ids: [row.id, row.keyId, row.sessionId, row.operation],
    amountCents: requestedCents(row.details) ?? null,
    texts: [titleOf(operationTitles, row.operation), row.message, row.rule, row.code, labelOf(row.keyId)],
  })
  return allow({
    filter: { ...filter, accountId, keyIds, programsOnly: keyId === undefined },
    matches: found && (row => found(searchedOf(row))),
  })
}

/** Returns the keys of a filter: the one that is asked for, if the caller may see it. */
function keysOf(keyId: string, isRoot: boolean, ids: readonly string[]): readonly string[] {
  return isRoot || ids.includes(keyId) ? [keyId] : []
}
