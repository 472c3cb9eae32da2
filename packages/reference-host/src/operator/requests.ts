import { allow, type Verdict } from '@gatewright/kernel'
import { NO_ACCOUNT, REQUEST_OUTCOMES, type RequestFilter, requests } from '@gatewright/host/internal'
import { operatorRequestData } from '../modules/requests/fields.ts'
import { deny, type OperatorDenial } from './codes.ts'
import type { OperatorServices } from './services.ts'

type RequestServices = Pick<OperatorServices, 'sql' | 'clock' | 'keys' | 'requestLog'>

/** The time in which refusals are counted. */
const COUNTED_MS = 86_400_000
/** How many kinds of refusals are listed. */
const MOST_KINDS = 10
/** How many requests are listed. */
const MOST_REQUESTS = 20

/** Counts the refusals of 24 hours among the newest kept requests, by rule, operation and key. */
export async function topRefusals({ sql, clock, keys, requestLog }: RequestServices): Promise<object> {
  await written(requestLog)
  const counted = await requests.topRefusals(sql, clock.now() - COUNTED_MS, MOST_KINDS)
  const labels = await labelsOf(keys, counted)
  return {
    refusals: counted.map(({ lastAt, accountId, keyId, ...refusal }) => ({
      ...refusal,
      accountId: accountId === NO_ACCOUNT ? null : accountId,
      keyId,
      keyLabel: labels.get(keyId) ?? null,
      lastAt: new Date(lastAt).toISOString(),
    })),
  }
}

/**
 * Lists the newest kept requests that `query` asks for: `outcome`, `operation`, `rule` (empty: none), `code`, `account` (empty: no verified credential),
 * `key` (empty: none). Without an account it searches the newest ones only.
 */
export async function listRequests(
  { sql, keys, requestLog }: RequestServices,
  query: URLSearchParams,
): Promise<Verdict<object, OperatorDenial>> {
  const filter = filterOf(query)
  if (!filter.ok) return filter
  await written(requestLog)
  const found = await requests.list(sql, { ...filter.value, limit: MOST_REQUESTS })
  const labels = await labelsOf(keys, found)
  return allow({
    requests: found.map(row => ({ ...operatorRequestData(row), keyLabel: labels.get(row.keyId) ?? null })),
  })
}

/** Finds a kept request of any account by its id. */
export async function findRequest(
  { sql, keys, requestLog }: RequestServices,
  query: URLSearchParams,
): Promise<Verdict<object, OperatorDenial>> {
  await written(requestLog)
  const found = await requests.findAnywhere(sql, query.get('id') ?? '')
  if (!found) return deny('not_found', 'No kept request has this id.')
  const labels = await labelsOf(keys, [found])
  return allow({ request: { ...operatorRequestData(found), keyLabel: labels.get(found.keyId) ?? null } })
}

/** Writes what waits. If that fails, the response is what is stored. */
const written = (requestLog: RequestServices['requestLog']): Promise<void> =>
  requestLog.flush().catch(() => {})

function filterOf(query: URLSearchParams): Verdict<Omit<RequestFilter, 'limit'>, OperatorDenial> {
  const given = (name: string): string | undefined => query.get(name) ?? undefined
  const outcome = REQUEST_OUTCOMES.find(each => each === given('outcome'))
  if (query.has('outcome') && outcome === undefined)
    return deny('invalid_request', `outcome must be one of ${REQUEST_OUTCOMES.join(', ')}`, {
      field: 'outcome',
    })
  const [accountId, key] = [given('account'), given('key')]
  return allow({
    outcome,
    operation: given('operation'),
    rule: given('rule') === '' ? null : given('rule'),
    code: given('code'),
    accountId,
    keyIds: key === undefined ? undefined : key === '' ? null : [key],
    newestOnly: accountId === undefined,
  })
}

/** Reads the labels of the keys of some rows. A key that was deleted or has no label is not in the result. */
async function labelsOf(
  keys: RequestServices['keys'],
  all: readonly { readonly keyId: string | null }[],
): Promise<ReadonlyMap<string | null, string>> {
  const ids = new Set(all.flatMap(({ keyId }) => keyId ?? []))
  const labels = await Promise.all([...ids].map(async id => [id, (await keys.find(id))?.label] as const))
  return new Map(labels.flatMap(([id, label]) => (typeof label === 'string' ? [[id, label] as const] : [])))
}
