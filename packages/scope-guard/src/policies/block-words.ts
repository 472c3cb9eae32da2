import type { CounterItem } from './caps.ts'
import type { Block } from './predicates.ts'
import type { Window } from './policy.ts'
import { isRolling } from './rolling.ts'

/** Says why a policy blocks a call, for people. Where a cap blocks, `exceededMessage` says it with its numbers. */
export function blockMessage({
  rule,
  notBefore,
  notAfter,
  limit,
  requested,
  payee,
  denied,
  allowed,
  mostOpen,
  window,
  remaining,
}: Block): string {
  switch (rule) {
    case 'denyOperations':
      return 'A policy of this key denies this operation.'
    case 'allowOperations':
      return 'The policies of this key do not allow this operation.'
    case 'notBefore':
      return `A policy of this key allows nothing before ${String(notBefore)}.`
    case 'notAfter':
      return `A policy of this key allows nothing from ${String(notAfter)} on.`
    case 'allowedIps':
      return 'A policy of this key does not allow requests from this address.'
    case 'allowCardSecrets':
      return 'A policy of this key does not allow card numbers to be shown.'
    case 'denyPayees':
      return payee === undefined
        ? NO_PAYEE
        : `A policy of this key denies payments to ${named(denied)}. The owner of the key can allow them.`
    case 'payees':
      return payee === undefined
        ? NO_PAYEE
        : `A policy of this key allows payments to ${allowed === 1 ? '1 payee' : `${String(allowed)} payees`}, not to ${named(payee)}. The owner of the key can add it.`
    case 'currency':
      return 'The limits of this key are in US dollars, and there is no rate for this currency.'
    case 'approveAboveCents': {
      const size = typeof limit === 'number' ? ` above ${dollars(limit)}` : ''
      const span = window === undefined || window === 'operation' ? '' : ` ${WINDOW_WORDS[window as Window]}`
      const left = span === '' ? '' : `${dollars(Number(remaining))} left, `
      const waits = `A payment${size}${span} with this key waits until its owner has approved it`
      return typeof mostOpen !== 'number'
        ? `${waits}: ${left}${dollars(Number(requested))} requested.`
        : `${waits}, and ${mostOpen} payments of the account wait already: let some be approved or denied first.`
    }
    case 'maxAuthAmountCents':
    case 'dailySpendCapCents':
    case 'dailyWithdrawalCapCents':
    case 'limits':
      return typeof limit === 'number' && typeof requested === 'number'
        ? `One payment with this key is limited to ${dollars(limit)}: ${dollars(requested)} requested.`
        : 'A limit of this key cannot be counted, because this server counts no spending.'
  }
}

const NO_PAYEE = 'A policy of this key lists payees, and this payment names none.'

const named = (payee: unknown): string => [payee].flat().join(' or ')

/**
 * Says which cap a call would exceed: its size, what is left of it, what was requested, and when it resets. `others` are the caps that the call
 * counts against, too: one of the same size is named, because raising the first one alone would change nothing.
 */
export function exceededMessage(
  counter: CounterItem,
  remaining: number,
  resetsAt: number | null,
  others: readonly CounterItem[],
): string {
  const { item, rule, window, timeZone, operations } = counter
  const { unit, cap, amount } = item
  const what = operations === undefined ? (SUBJECTS[rule] ?? 'Spending') : listed(operations)
  const size = unit === 'cents' ? dollars(cap) : cap === 1 ? '1 call' : `${cap} calls`
  const left = unit === 'cents' ? dollars(remaining) : String(remaining)
  const requested = unit === 'cents' ? `, ${dollars(amount)} requested` : ''
  const verb = what === 'Spending' ? 'is' : 'are'
  const equal = others.find(
    each =>
      each.rule !== rule &&
      each.window === window &&
      each.timeZone === timeZone &&
      each.item.unit === unit &&
      each.item.cap === cap &&
      each.operations === undefined,
  )
  const too = equal === undefined ? '' : ` (${(SUBJECTS[equal.rule] ?? 'Spending').toLowerCase()} too)`
  return `${what} with this key ${verb} limited to ${size} ${WINDOW_WORDS[window]}${too}: ${left} left${requested}. ${resets(counter, resetsAt)}`
}

const SUBJECTS: Readonly<Record<string, string>> = { dailyWithdrawalCapCents: 'Withdrawals' }
/** How each window is spelled after an amount, in the order in which lists name them. */
export const WINDOW_WORDS = {
  operation: 'at once',
  day: 'a day',
  week: 'a week',
  month: 'a month',
  '24h': 'in 24 hours',
  '7d': 'in 7 days',
  '30d': 'in 30 days',
  total: 'in total',
} as const
/** How many operations of a limit a message names. */
const NAMED = 3

function listed(operations: readonly string[]): string {
  const named = operations.slice(0, NAMED).join(', ')
  const more = operations.length - NAMED
  return `Calls of ${more > 0 ? `${named} and ${more} more` : named}`
}

function resets({ window, timeZone, item }: CounterItem, resetsAt: number | null): string {
  if (isRolling(window)) return fits(item, resetsAt)
  if (resetsAt === null) return 'It does not reset.'
  if (timeZone !== undefined)
    return `It resets at ${utcMinute(resetsAt)}, when a new ${window} begins in ${timeZone}.`
  if (window === 'day') return 'It resets at 00:00 UTC.'
  return `It resets on ${new Date(resetsAt).toISOString().slice(0, 10)} at 00:00 UTC.`
}

function fits({ amount, cap, unit }: CounterItem['item'], resetsAt: number | null): string {
  if (resetsAt === null) return 'Nothing is used, so a later call is denied too.'
  if (amount > cap) return `The first part is free again at ${utcMinute(resetsAt)}.`
  return `${unit === 'cents' ? 'This amount' : 'Another call'} fits from ${utcMinute(resetsAt)} on.`
}

/** Writes an instant for people, such as `2026-11-30 00:00 UTC`. */
export function utcMinute(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

const DOLLARS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
/** Writes US cents for people. */
export function dollars(cents: number): string {
  return `${DOLLARS.format(cents / 100)} USD`
}
