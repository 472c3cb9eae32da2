import { allow, type Verdict } from '@gatewright/kernel'
import { isStorableText } from '@gatewright/kernel/internal'
import {
  describedJobs,
  describedLostRuns,
  isoOrNull,
  listLostHistory,
  overTime,
} from '@gatewright/host/internal'
import { isReference } from '../modules/command-arguments.ts'
import { isNote } from '@gatewright/idempotency-store/internal'
import { handleKept, listKept } from '../modules/attention/kept-events.ts'
import { countAttention } from '../modules/attention/reports.ts'
import { describeEndpoint, describeRetry, replayEvent } from '../modules/webhooks/for-operators.ts'
import { endpoints } from '../modules/webhooks/endpoints.ts'
import { retries } from '../modules/webhooks/retries.ts'
import type { EndpointState } from '../product/metrics.ts'
import { HOST_VERSION } from '../product/version.ts'
import { aliasesInUse, reportAliases } from './aliases.ts'
import { deny, type OperatorDenial } from './codes.ts'
import { describeAccount, describeEnd } from './account.ts'
import { find } from './find.ts'
import { denyNote, incidentActions } from './incident.ts'
import { listRequests, topRefusals } from './requests.ts'
import type { OperatorServices } from './services.ts'

/** One endpoint of the operator page. */
export interface OperatorEndpoint {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The names of its query parameters. Default: none. */
  readonly parameters?: readonly string[]
  /** Responds with JSON. `body` is the JSON object of a POST. */
  response(
    body: Readonly<Record<string, unknown>>,
    query: URLSearchParams,
  ): Promise<Verdict<object, OperatorDenial>>
}

type OperatorDecision = Parameters<typeof describedLostRuns.decide>[2]

/** How many rows a list on the page has at most. The commands print more. */
const MOST = 100

/** Every endpoint of the operator page. Each GET is one panel, so that a store that fails breaks no other panel. */
export function operatorEndpoints(services: OperatorServices): readonly OperatorEndpoint[] {
  const { clock, history, jobs, lostRuns, ledgerChecks, feed } = services
  const get = (path: string, figures: () => Promise<object> | object): OperatorEndpoint => ({
    method: 'GET',
    path: `/operator/api/${path}`,
    response: async () => allow(await figures()),
  })
  return [
    get('host', () => {
      const { environment, serviceName } = services
      const since = new Date(history.since).toISOString()
      return { serviceName, environment, version: HOST_VERSION, pid: process.pid, since }
    }),
    get('state', async () => {
      const { ready, dependencies } = await services.readiness.check()
      return { ready, dependencies, feedAgeSeconds: feed.ageSeconds() ?? null }
    }),
    get('decisions', () => overTime.decisions(history, clock.now())),
    get('refusals', () => topRefusals(services)),
    {
      method: 'GET',
      path: '/operator/api/requests',
      parameters: ['outcome', 'operation', 'rule', 'code', 'account', 'key'],
      response: (_, query) => listRequests(services, query),
    },
    get('stores', () => overTime.stores(history, clock.now())),
    get('jobs', async () => {
      const kinds = await describedJobs.count(jobs, clock.now())
      const { rows, more } = firstRows(await describedJobs.list(jobs, MOST + 1))
      return { kinds, jobs: rows, more }
    }),
    get('attention', async () => ({ attention: await countAttention(services.sql, clock.now()) })),
    get('provider-events', async () => {
      const { rows, more } = firstRows(await listKept(services, MOST + 1))
      return { events: rows, more }
    }),
    {
      method: 'POST',
      path: '/operator/api/provider-events/handled',
      response: body => markHandled(services, body),
    },
    get('webhooks', async () => {
      const { rows, more } = firstRows(await retries.list(services.sql, MOST + 1))
      const all = (await endpoints.list(services.sql)).map(describeEndpoint)
      // Those that an operator looks for come first.
      const sorted = all.toSorted((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state))
      return { endpoints: sorted.slice(0, MOST), total: all.length, retries: rows.map(describeRetry), more }
    }),
    {
      method: 'POST',
      path: '/operator/api/webhooks/replay',
      response: body => replay(services, body),
    },
    get('aliases', async () => {
      await services.flushAliasUsage()
      return aliasesInUse(await reportAliases(services.aliasUsage, clock.now()))
    }),
    get('lost-runs', async () => {
      const { runs, next } = await describedLostRuns.list(lostRuns, { limit: MOST })
      return { runs, more: next !== undefined }
    }),
    get('lost-history', async () => {
      const losses = await listLostHistory(services.sql, MOST, 'open')
      return {
        losses: losses.map(({ hostId, foundAt, keptAt, acknowledgedAt }) => ({
          hostId,
          foundAt: isoOrNull(foundAt),
          keptAt: isoOrNull(keptAt),
          acknowledgedAt: isoOrNull(acknowledgedAt),
        })),
      }
    }),
    get('ledger-check', () => ledgerChecks.latest()),
    { method: 'POST', path: '/operator/api/ledger-check', response: async () => allow(ledgerChecks.start()) },
    ...incidentEndpoints(services),
    {
      method: 'POST',
      path: '/operator/api/lost-runs/resolve',
      response: body => resolveRun(services, body),
    },
  ]
}

/** The endpoints that find an account, and stop it or one of its keys. */
function incidentEndpoints(services: OperatorServices): readonly OperatorEndpoint[] {
  const read = (path: string, response: typeof describeAccount): OperatorEndpoint => ({
    method: 'GET',
    path: `/operator/api/${path}`,
    parameters: ['id'],
    response: (_, query) => response(services, query),
  })
  const post = (path: string, response: typeof find): OperatorEndpoint => ({
    method: 'POST',
    path: `/operator/api/${path}`,
    response: body => response(services, body),
  })
  return [
    // A POST, although it changes nothing: what is looked for may be a secret, and addresses are kept in many places.
    post('find', find),
    read('account', describeAccount),
    read('key-end', describeEnd),
    ...Object.entries(incidentActions).map(([path, act]) => post(path, act)),
  ]
}

const STATES: readonly EndpointState[] = ['disabled', 'failing', 'working']

/** Sends an event to an endpoint again. */
async function replay(
  { sql, clock }: OperatorServices,
  { eventId, endpointId }: Readonly<Record<string, unknown>>,
): Promise<Verdict<object, OperatorDenial>> {
  if (typeof eventId !== 'string')
    return deny('invalid_request', 'eventId must be a text', { field: 'eventId' })
  if (typeof endpointId !== 'string')
    return deny('invalid_request', 'endpointId must be a text', { field: 'endpointId' })
  const sent = await replayEvent(sql, eventId, { endpointId, now: clock.now() })
  if (!sent || sent.length === 0)
    return deny('not_found', 'no such event is kept, or its recipient has no such endpoint')
  return allow({ eventId, endpointId })
}

/** Marks an event of a provider as handled, as `gatewright provider-events handled` does. */
async function markHandled(
  services: OperatorServices,
  { event, reference }: Readonly<Record<string, unknown>>,
): Promise<Verdict<object, OperatorDenial>> {
  if (typeof event !== 'string' || !isStorableText(event))
    return deny('invalid_request', 'event must be a text without NUL', { field: 'event' })
  if (!isReference(reference)) {
    const message = 'reference must be 1 to 120 visible ASCII characters, such as a ticket'
    return deny('invalid_request', message, { field: 'reference' })
  }
  return (await handleKept(services, event, reference))
    ? allow({ event, reference })
    : deny('invalid_state', 'no such event waits, or somebody has handled it already')
}

/** Returns the rows that the page shows of a list that was read with one row more. `more`: there are further rows. */
function firstRows<T>(rows: readonly T[]): { readonly rows: readonly T[]; readonly more: boolean } {
  return { rows: rows.slice(0, MOST), more: rows.length > MOST }
}

async function resolveRun(
  { lostRuns }: OperatorServices,
  { run, ...given }: Readonly<Record<string, unknown>>,
): Promise<Verdict<object, OperatorDenial>> {
  if (typeof run !== 'string') return deny('invalid_request', 'run must be a text', { field: 'run' })
  const decision = decisionOf(given)
  if (!decision.ok) return decision
  return (await describedLostRuns.decide(lostRuns, run, decision.value))
    ? allow({ run, outcome: decision.value.outcome })
    : deny('invalid_state', 'this run is not lost, or somebody has decided about it already')
}

/** Reads a decision. Denies an unknown outcome, a completed run whose `data` is not a JSON object, and a decision without who and why. */
function decisionOf({
  outcome,
  data = {},
  by,
  reason,
}: Readonly<Record<string, unknown>>): Verdict<OperatorDecision, OperatorDenial> {
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data)
  if ((outcome !== 'never_happened' && outcome !== 'completed') || !isObject) {
    const message = 'outcome must be never_happened, or completed with data, a JSON object'
    return deny('invalid_request', message, { field: 'outcome' })
  }
  if (!isNote('by', by)) return denyNote('by')
  if (!isNote('reason', reason)) return denyNote('reason')
  return allow({ outcome, by, reason, data: data as OperatorDecision['data'] })
}
