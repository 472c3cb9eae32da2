import { allow, type Denial, type Verdict } from '@gatewright/kernel'
import { parseInstant, shownName, unknownName } from '@gatewright/kernel/internal'
import { isAddressBlock } from '@gatewright/kernel/internal/address'
import { utf8Length } from '@gatewright/kernel/internal/platform'
import { deny } from '../codes.ts'
import { isPayeeName } from './payees.ts'
import type { Policy, Window } from './policy.ts'
import { isTimeZone } from './time-zones.ts'

/** The most entries that a list in a policy may have. */
const MAX_ENTRIES = 100
/** The most limits that a policy may have when it is written. */
const MAX_LIMITS = 16
/** The most limits with an alert that a policy may have when it is written: a host keeps an event for each. */
const MAX_ALERTS = 4
/** The most bytes that a policy may have when it is written, in UTF-8 of its JSON. */
const MAX_BYTES = 8192
/** An operation id or `tag.*`. */
const PATTERN = /^[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*\.(?:\*|[A-Za-z0-9_-]+)$/
const WINDOWS: readonly unknown[] = [
  'operation',
  'day',
  'week',
  'month',
  '24h',
  '7d',
  '30d',
  'total',
] satisfies Window[]

/** A wrong member: its path, and what is expected there. */
interface Problem {
  readonly field: string
  readonly expected: string
}
type Check = (value: unknown, field: string) => Problem | undefined

const must =
  (expected: string, test: (value: unknown) => boolean): Check =>
  (value, field) =>
    test(value) ? undefined : { field, expected }

const listOf =
  (check: Check, most = MAX_ENTRIES): Check =>
  (value, field) => {
    if (!Array.isArray(value) || value.length > most) {
      return { field, expected: `must be a list of at most ${most}` }
    }
    for (const [index, entry] of value.entries()) {
      const problem = check(entry, `${field}[${index}]`)
      if (problem) return problem
    }
    return undefined
  }

/** Accepts an object if all its members are known: a misspelt cap must not be read as no cap. */
const objectOf =
  (members: Readonly<Record<string, Check>>): Check =>
  (value, field) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { field, expected: 'must be an object' }
    }
    for (const [name, entry] of Object.entries(value)) {
      const path = field === 'policy' ? shownName(name) : `${field}.${shownName(name)}`
      if (!Object.hasOwn(members, name))
        return { field: path, expected: unknownName('member', name, Object.keys(members)) }
      const problem = (members[name] as Check)(entry, path)
      if (problem) return problem
    }
    return undefined
  }

const amount = must('must be an integer of at least 0', v => Number.isSafeInteger(v) && (v as number) >= 0)
const percent = must(
  'must be an integer from 1 to 100',
  v => Number.isInteger(v) && (v as number) >= 1 && (v as number) <= 100,
)
const flag = must('must be true or false', v => typeof v === 'boolean')
const instant = must('must be an RFC 3339 date-time with Z or an offset', v => parseInstant(v) !== undefined)
const pattern = must(
  'must be an operation id or "tag.*"',
  v => typeof v === 'string' && v.length <= 100 && PATTERN.test(v),
)
const operations = listOf(pattern)
const address = must(
  'must be an IP address or a CIDR block',
  v => typeof v === 'string' && v.length <= 50 && isAddressBlock(v),
)

const payees = listOf(must('must be the name of a payee, a text of 1 to 200 characters', isPayeeName))

const limitMembers = objectOf({
  operations,
  window: must('must be operation, day, week, month, 24h, 7d, 30d or total', v => WINDOWS.includes(v)),
  maxCents: amount,
  maxCount: amount,
  approveAboveCents: amount,
  alertAtPercent: percent,
})
const limit: Check = (value, field) => {
  const problem = limitMembers(value, field)
  if (problem) return problem
  const { operations, window, maxCents, maxCount, approveAboveCents, alertAtPercent } = value as Record<
    string,
    unknown
  >
  if (!Array.isArray(operations) || operations.length === 0) {
    return { field: `${field}.operations`, expected: 'must name at least one operation' }
  }
  if (window === undefined) return { field: `${field}.window`, expected: 'must be given' }
  if ([maxCents, maxCount, approveAboveCents].filter(each => each !== undefined).length !== 1) {
    return { field, expected: 'must have exactly one of maxCents, maxCount and approveAboveCents' }
  }
  if (maxCount !== undefined && window === 'operation') {
    return { field: `${field}.window`, expected: 'must not be operation with maxCount' }
  }
  if (alertAtPercent !== undefined && approveAboveCents !== undefined) {
    return {
      field: `${field}.alertAtPercent`,
      expected: 'must not be given with approveAboveCents, which is no cap',
    }
  }
  if (alertAtPercent !== undefined && window === 'operation') {
    return { field: `${field}.alertAtPercent`, expected: 'must not be given with the window operation' }
  }
  return undefined
}

const membersOf = (maxLimits: number): Check =>
  objectOf({
    maxAuthAmountCents: amount,
    dailySpendCapCents: amount,
    dailyWithdrawalCapCents: amount,
    approveAboveCents: amount,
    allowCardSecrets: flag,
    notBefore: instant,
    notAfter: instant,
    denyOperations: operations,
    allowOperations: operations,
    payees,
    denyPayees: payees,
    limits: listOf(limit, maxLimits),
    timeZone: must('must be the name of a time zone, such as "Europe/Berlin"', isTimeZone),
    alertAtPercent: percent,
    allowedIps: listOf(address),
  } satisfies Record<keyof Policy, Check>)

/**
 * Decides whether a value is a policy that may be written. Unknown members, null and numbers outside the safe integers are
 * denied, and so are more than 16 limits, more than 4 of them with an alert, and more than 8192 bytes of JSON in UTF-8. The result is a frozen copy.
 * `checkPolicyChain` decides whether the policy may join a chain. Denial: `invalid_request`, whose `field` is the path of the
 * wrong member, such as `limits[0].window`, or `policy` if the whole value is wrong or too large; the message for an unknown
 * member suggests the nearest known name.
 */
export function parsePolicy(value: unknown): Verdict<Policy, Denial<'invalid_request'>> {
  const parsed = readPolicy(value, MAX_LIMITS)
  if (!parsed.ok) return parsed
  const alerting = (parsed.value.limits ?? []).flatMap((limit, n) => (limit.alertAtPercent ? [n] : []))
  const beyond = alerting[MAX_ALERTS]
  if (beyond !== undefined) {
    const field = `limits[${beyond}].alertAtPercent`
    return deny('invalid_request', `${field} must be in at most ${MAX_ALERTS} entries of limits`, { field })
  }
  const bytes = jsonBytes(parsed.value)
  if (bytes <= MAX_BYTES) return parsed
  const message = `policy must have at most ${MAX_BYTES} bytes as JSON, got ${bytes}`
  return deny('invalid_request', message, { field: 'policy' })
}

/**
 * Reads a stored policy as `parsePolicy` does, without the bounds on bytes and limits: a policy that was stored before there were
 * such bounds still binds its sessions.
 */
export function readStoredPolicy(value: unknown): Verdict<Policy, Denial<'invalid_request'>> {
  return readPolicy(value, MAX_ENTRIES)
}

/** Counts the bytes of a document: UTF-8 of its JSON. */
export function jsonBytes(document: unknown): number {
  return utf8Length(JSON.stringify(document))
}

function readPolicy(value: unknown, maxLimits: number): Verdict<Policy, Denial<'invalid_request'>> {
  const problem = membersOf(maxLimits)(value, 'policy')
  if (problem) {
    return deny('invalid_request', `${problem.field} ${problem.expected}`, { field: problem.field })
  }
  const policy = freeze(structuredClone(value)) as Policy
  const { notBefore, notAfter, alertAtPercent, dailySpendCapCents, dailyWithdrawalCapCents } = policy
  if (alertAtPercent !== undefined && (dailySpendCapCents ?? dailyWithdrawalCapCents) === undefined) {
    const field = 'alertAtPercent'
    const message = `${field} must be beside dailySpendCapCents or dailyWithdrawalCapCents: give an entry of limits its own`
    return deny('invalid_request', message, { field })
  }
  const [from = -Infinity, until = Infinity] = [parseInstant(notBefore), parseInstant(notAfter)]
  if (from >= until) {
    return deny('invalid_request', 'notAfter must be later than notBefore', { field: 'notAfter' })
  }
  return allow(policy)
}

function freeze(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) freeze(member)
    Object.freeze(value)
  }
  return value
}
