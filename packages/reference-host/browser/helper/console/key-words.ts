import { short } from '../../shared/address.ts'
import type { Child } from '../../shared/dom.ts'
import { money } from '../../shared/money.ts'
import { utc } from '../../shared/time.ts'
import type { Key } from './wire.ts'

/** The name of a key: its label, or else the end of its id. */
export function keyName({ label, id, console }: Pick<Key, 'label' | 'id' | 'console'>): string {
  return label ?? (console ? 'Console' : `…${id.slice(-6)}`)
}

/** Describes who created or rotated a key. */
export function makerWords({ createdBy, rotatedBy }: Key, keys: readonly Key[]): Child[] {
  const maker = rotatedBy ?? createdBy
  if (maker === null) return ['Created by your wallet']
  const known = keys.find(({ id }) => id === maker.keyId)
  const verb = rotatedBy === null ? 'Created' : 'Rotated'
  const by: Child[] = [`${verb} by key `, known ? keyName(known) : short(maker.keyId)]
  return maker.sessionId === null ? by : [...by, ', session ', short(maker.sessionId)]
}

const LIMIT_WINDOWS: Readonly<Record<string, string>> = {
  operation: 'at once',
  day: 'a day',
  month: 'a month',
  total: 'in total',
}
const text = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value))
const cents = (value: unknown): string => `${money(Number(value))} USD`

const FROZEN_WORDS = 'Blocked: may do nothing'

/** Describes each member of a policy. A member without an entry is shown by its name and value. */
const MEMBERS: Readonly<Record<string, (value: never) => string>> = {
  maxAuthAmountCents: value => `At most ${cents(value)} in one payment`,
  dailySpendCapCents: value => `At most ${cents(value)} spent a day`,
  dailyWithdrawalCapCents: value => `At most ${cents(value)} withdrawn a day`,
  allowedIps: value => `Only from ${text(value)}`,
  allowOperations: (value: readonly string[]) => (value.length === 0 ? FROZEN_WORDS : `Only ${text(value)}`),
  denyOperations: value => `Never ${text(value)}`,
  notBefore: value => `Not before ${utc(value)}`,
  notAfter: value => `Not after ${utc(value)}`,
  allowCardSecrets: value => (value === false ? 'Never shows card numbers' : 'May show card numbers'),
  limits: (limits: readonly Limit[]) => limits.map(limitWords).join('; '),
}

interface Limit {
  readonly operations: readonly string[]
  readonly window: string
  readonly maxCents?: number
  readonly maxCount?: number
}

function limitWords({ operations, window, maxCents, maxCount }: Limit): string {
  const most = maxCents === undefined ? `${maxCount ?? 0} times` : cents(maxCents)
  return `At most ${most} ${LIMIT_WINDOWS[window] ?? window} by ${operations.join(', ')}`
}

const policiesOf = (policy: unknown): Record<string, unknown>[] =>
  (Array.isArray(policy) ? policy : [policy]) as Record<string, unknown>[]

/** Whether the policy of a key allows no operation at all. */
export function isFrozen(policy: unknown): boolean {
  if (policy === null) return false
  return policiesOf(policy).some(
    ({ allowOperations }) => Array.isArray(allowOperations) && allowOperations.length === 0,
  )
}

/** Describes the policy of a key, one line for each member. */
export function policyLines(policy: unknown): string[] {
  if (policy === null) return []
  return policiesOf(policy).flatMap(each =>
    Object.entries(each).map(([name, value]) => {
      const words = MEMBERS[name]
      return words ? words(value as never) : `${name}: ${JSON.stringify(value)}`
    }),
  )
}
