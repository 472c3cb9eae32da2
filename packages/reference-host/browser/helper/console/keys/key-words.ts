import { shortened } from '../../../shared/address.ts'
import { utc } from '../../../shared/time.ts'
import { operationsWords } from '../../../shared/operations.ts'
import { alertWords, isMonth, limitWords, usd, type Limit, type Policy } from '../../key/sentence.ts'
import { keyName } from '../all-keys.ts'
import type { Key } from '../wire.ts'

/** Describes who created or rotated a key. */
export function makerWords({ createdBy, rotatedBy }: Key, keys: readonly Key[]): string {
  const maker = rotatedBy ?? createdBy
  if (maker === null) return 'Created by your wallet'
  const known = keys.find(({ id }) => id === maker.keyId)
  const verb = rotatedBy === null ? 'Created' : 'Rotated'
  const by = `${verb} by key ${known ? keyName(known) : shortened(maker.keyId)}`
  return maker.sessionId === null ? by : `${by}, session ${shortened(maker.sessionId)}`
}

const text = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value))

const NOTHING_WORDS = 'Blocked: may do nothing'

/** Describes each member of a policy. A member without an entry is shown by its name and value. */
const MEMBERS: Readonly<Record<string, (value: never) => string>> = {
  maxAuthAmountCents: value => `At most ${usd(value)} in one payment`,
  dailySpendCapCents: value => `At most ${usd(value)} spent a day`,
  dailyWithdrawalCapCents: value => `At most ${usd(value)} withdrawn a day`,
  approveAboveCents: value => `Asks you above ${usd(value)}`,
  alertAtPercent: value => `Tells you when ${text(value)} % of a daily limit is used`,
  allowedIps: value => `Only from ${text(value)}`,
  allowOperations: (value: readonly string[]) =>
    value.length === 0 ? NOTHING_WORDS : `Only ${operationsWords(value)}`,
  denyOperations: (value: readonly string[]) => `Never ${operationsWords(value)}`,
  notBefore: value => `Not before ${utc(value)}`,
  notAfter: value => `Not after ${utc(value)}`,
  timeZone: value => `Days begin at midnight in ${text(value)}`,
  allowCardSecrets: value => (value === false ? 'Never shows card numbers' : 'May show card numbers'),
  limits: (limits: readonly Limit[]) =>
    limits
      .map(limit =>
        isMonth(limit)
          ? `At most ${usd(limit.maxCents ?? 0)} spent a month${alertWords(limit)}`
          : limitWords(limit),
      )
      .join('; '),
}

/** Lists the policies of a key: one for an object, several for a list. */
export function policiesOf({ policy }: Pick<Key, 'policy'>): readonly Policy[] {
  if (policy === null) return []
  return (Array.isArray(policy) ? policy : [policy]) as readonly Policy[]
}

/** Whether the policy of a key allows no operation at all. */
export function allowsNothing(key: Pick<Key, 'policy'>): boolean {
  return policiesOf(key).some(({ allowOperations }) => allowOperations?.length === 0)
}

/** Describes the policy of a key, one line for each member. */
export function policyLines(key: Pick<Key, 'policy'>): string[] {
  return policiesOf(key).flatMap(each =>
    Object.entries(each).map(([name, value]) => {
      const words = MEMBERS[name]
      return words ? words(value as never) : `${name}: ${JSON.stringify(value)}`
    }),
  )
}
