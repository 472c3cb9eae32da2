import { allow, type Verdict } from '@gatewright/kernel'
import { type RecordedRequest, REQUEST_OUTCOMES, requests, SHORT_ID } from '@gatewright/host/internal'
import { rows } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import {
  operatorRequestData,
  titleOf,
  type OperatorRequest,
  type RequestFilter,
} from '../modules/requests/fields.ts'
import { deny, type OperatorDenial } from './codes.ts'
import type { OperatorServices } from './services.ts'

type RequestServices = Pick<OperatorServices, 'sql' | 'clock' | 'keys' | 'requestLog' | 'operationTitles'>

/** The time in which refusals are counted. */
const COUNTED_MS = 86_400_000
/** How many kinds of refusals are listed. */
const MOST_KINDS = 10
/** How many requests are listed. */
const MOST_REQUESTS = 20

/**
 * Counts the refusals of 24 hours among the newest kept requests, by rule, operation and key. What people looked up in a console is not
 * counted.
 */
export async function topRefusals(services: RequestServices): Promise<object> {
  const { sql, clock, requestLog } = services
  await written(requestLog)
  const counted = await requests.topRefusals(sql, clock.now() - COUNTED_MS, MOST_KINDS)
  const named = await namesOf(services, counted)
  return {
    refusals: counted.map(refusal => ({
      ...refusal,
      accountId: refusal.accountId || null,
      ...named(refusal),
      lastAt: new Date(refusal.lastAt).toISOString(),
    })),
  }
}

/**
 * Lists the newest kept requests that `query` asks for: `outcome`, `operation`, `rule` (empty: none), `code`, `account` (empty: no verified credential),
 * `key` (empty: none). Without an account it searches the newest ones only. What people looked up in a console is left out, unless its key
 * is asked for.
 */
export async function listRequests(
  services: RequestServices,
  query: URLSearchParams,
): Promise<Verdict<object, OperatorDenial>> {
  const { sql, requestLog } = services
  const filter = filterOf(query)
  if (!filter.ok) return filter
  await written(requestLog)
  const found = await requests.list(sql, { ...filter.value, limit: MOST_REQUESTS })
  return allow({ requests: await withNames(services, found) })
}

/** A request with the names of what it is about. */
export type NamedRequest = OperatorRequest & RowNames

/** Finds the kept request of any account with an id, or those whose ids begin with the characters that a terminal shows of one: two at most. */
export async function findRequests(services: RequestServices, id: string): Promise<readonly NamedRequest[]> {
  const { sql, requestLog } = services
  await written(requestLog)
  const exact = await requests.findAnywhere(sql, id)
  const found = exact ? [exact] : id.length === SHORT_ID ? await requests.findByStart(sql, id) : []
  return withNames(services, found)
}

/** Lists the newest refused requests of an account, those of consoles included. */
export async function refusalsOf(
  services: RequestServices,
  accountId: string,
  limit: number,
): Promise<readonly NamedRequest[]> {
  await written(services.requestLog)
  return withNames(services, await requests.list(services.sql, { accountId, outcome: 'refused', limit }))
}

async function withNames(
  services: RequestServices,
  found: readonly RecordedRequest[],
): Promise<readonly NamedRequest[]> {
  const named = await namesOf(services, found)
  return found.map(row => ({ ...operatorRequestData(row), ...named(row) }))
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
    programsOnly: key === undefined || key === '',
  })
}

/** A row whose operation, key and account the page names for people. */
type NamedRow = Pick<RecordedRequest, 'accountId' | 'keyId' | 'operation'>

/** What a row is called. */
interface RowNames {
  readonly title: string
  readonly keyLabel: string | null
  readonly console: boolean
  readonly wallet: string | null
}

/**
 * Returns the function that names what some rows are about: the title of the operation, the label of the key, whether it is that of a
 * console, and the wallet of the account. Null: the key was deleted or has no label; nobody signed in to the account with a wallet.
 */
async function namesOf(
  { sql, keys, operationTitles }: Pick<RequestServices, 'sql' | 'keys' | 'operationTitles'>,
  all: readonly NamedRow[],
): Promise<(row: NamedRow) => RowNames> {
  const ids = new Set(all.flatMap(({ keyId }) => keyId ?? []))
  const found = new Map(await Promise.all([...ids].map(async id => [id, await keys.find(id)] as const)))
  const wallets = await walletsOf(sql, new Set(all.map(({ accountId }) => accountId)))
  return ({ accountId, keyId, operation }) => {
    const key = keyId === null ? undefined : found.get(keyId)
    return {
      title: titleOf(operationTitles, operation),
      keyLabel: key?.label ?? null,
      console: key?.console === true,
      wallet: wallets.get(accountId) ?? null,
    }
  }
}

async function walletsOf(
  sql: RequestServices['sql'],
  accounts: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const ids = [...accounts].filter(id => id !== '')
  if (ids.length === 0) return new Map()
  const places = ids.map((_, index) => `$${index + 1}`).join(', ')
  const text = `select account_id, wallet_address from gw_users
    where account_id in (${places}) and wallet_address is not null`
  const found = await rows(sql, text, ids)
  return new Map(found.map(row => [toText(row['account_id']), toText(row['wallet_address'])]))
}
