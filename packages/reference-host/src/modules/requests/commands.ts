import type { HostServices } from '@gatewright/host'
import {
  listCommand,
  type Command,
  type CommandArguments,
  CommandError,
  UsageError,
} from '@gatewright/host/cli'
import {
  instantArgument,
  integerArgument,
  REQUEST_OUTCOMES,
  type RecordedRequest,
  requests,
  SHORT_ID,
} from '@gatewright/host/internal'
import type { SqlQueries } from '@gatewright/kernel/sql'
import { whyRefused } from '../../product/why-refused.ts'
import { accountOf } from '../find-account.ts'
import { operatorRequestData, type RequestFilter } from './fields.ts'

const MAX_ROWS = 1000

/** Commands on kept requests. */
export const commands: readonly Command<Pick<HostServices, 'backend'>>[] = [
  listCommand({
    name: 'requests list',
    takes: [],
    options: {
      account:
        'only requests of this account, user or partner id; default: of all, also of callers without a valid credential',
      outcome: `only ${REQUEST_OUTCOMES.join(', ')}`,
      operation: 'only requests of this operation, such as withdrawals.create',
      rule: 'only those that this policy rule blocked, such as dailyWithdrawalCapCents',
      key: 'only those of this key',
      limit: `how many rows, 1 to ${MAX_ROWS}; default 50`,
      before: 'only rows from before this instant (RFC 3339), or AT/ID: from after this row',
    },
    summary: 'List kept requests and what was decided about them, newest first',
    example: '--outcome refused --limit 20',
    check: ({ options }) => void filterOf(options),
    async rows({ backend }, { options }) {
      const { sql } = backend
      const { account } = options
      const accountId = account === undefined ? undefined : await accountOf(sql, account)
      const found = await requests.list(sql, { accountId, ...filterOf(options) })
      const labels = await labelsOf(backend, found)
      return found.map(row => ({
        ...operatorRequestData(row),
        keyLabel: labels.get(row.keyId ?? '') ?? null,
        why: whyRefused({ error: row.code, rule: row.rule, details: row.details }) || null,
      }))
    },
    columns: {
      AT: 'createdAt',
      STATUS: 'status',
      OPERATION: 'operation',
      KEY: ({ keyLabel, keyId }) => keyLabel ?? keyId,
      WHY: { value: 'why', kind: 'state' },
      REQUEST: { value: 'id', kind: 'shortId' },
      MESSAGE: 'message',
    },
    dropFirst: ['MESSAGE'],
    empty: 'No requests.',
    note(rows, { options }) {
      const last = rows.at(-1)
      return last && rows.length === limitOf(options)
        ? `For the next page: --before ${last.createdAt}/${last.id}`
        : undefined
    },
  }),
  {
    name: 'requests show',
    takes: ['REQUEST_ID'],
    summary:
      'Show a kept request and why it was refused. REQUEST_ID is the X-Request-Id of its response, or what requests list shows of it',
    example: '0ffe0345-6c0a-4d53-8a4e-6f4f8a3a2b11',
    async run({ backend: { sql } }, { positional: [id = ''] }) {
      const found = await requestOf(sql, id)
      if (!found)
        throw new CommandError(
          `no kept request ${id}: it may be a read that succeeded, too old, or not written yet`,
        )
      const data = operatorRequestData(found)
      return { data, fields: data }
    },
  },
]

/** Finds a request by its id, or by the start of it that a terminal shows. Throws a `CommandError` if several begin so. */
async function requestOf(sql: SqlQueries, id: string): Promise<RecordedRequest | undefined> {
  const found = await requests.findAnywhere(sql, id)
  if (found || id.length !== SHORT_ID) return found
  const [first, ...more] = await requests.findByStart(sql, id)
  if (more.length > 0)
    throw new CommandError(
      `several requests begin with ${id}: give the whole id, which requests list --json prints`,
    )
  return first
}

/** The labels of the keys of requests, by the ids of the keys. */
async function labelsOf(
  { issuer }: HostServices['backend'],
  found: readonly RecordedRequest[],
): Promise<ReadonlyMap<string, string>> {
  const labels = new Map<string, string>()
  for (const keyId of new Set(found.flatMap(row => row.keyId ?? []))) {
    const key = await issuer.keys.find(keyId)
    const label = key?.console === true ? 'Console' : key?.label
    if (label) labels.set(keyId, label)
  }
  return labels
}

function filterOf(options: CommandArguments['options']): RequestFilter {
  const { outcome, operation, rule, key, before } = options
  return {
    outcome: outcome === undefined ? undefined : outcomeOf(outcome),
    operation,
    rule,
    keyIds: key === undefined ? undefined : [key],
    after: before === undefined ? undefined : positionOf(before),
    limit: limitOf(options),
  }
}

function limitOf({ limit = '50' }: CommandArguments['options']): number {
  return integerArgument('--limit', limit, 1, MAX_ROWS)
}

function outcomeOf(text: string): (typeof REQUEST_OUTCOMES)[number] {
  const outcome = REQUEST_OUTCOMES.find(each => each === text)
  if (!outcome)
    throw new UsageError(
      `--outcome must be one of ${REQUEST_OUTCOMES.join(', ')}, got ${JSON.stringify(text)}`,
    )
  return outcome
}

function positionOf(before: string): { readonly at: number; readonly id?: string } {
  const [at = '', id] = before.split('/')
  return { at: instantArgument('--before', at), ...(id === undefined ? {} : { id }) }
}
