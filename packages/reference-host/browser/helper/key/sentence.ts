import { money } from '../../shared/money.ts'
import { utc } from '../../shared/time.ts'
import { MONEY_OPERATIONS, operationsWords } from '../../shared/operations.ts'
import { readScopes, rightsWords } from './rights.ts'

/** A limit on some operations, as policies write it. */
export interface Limit {
  readonly operations: readonly string[]
  readonly window: 'operation' | 'day' | 'week' | 'month' | '24h' | '7d' | '30d' | 'total'
  readonly maxCents?: number
  readonly maxCount?: number
  readonly approveAboveCents?: number
  readonly alertAtPercent?: number
}

/** The members of a policy that the pages set. The host knows more. */
export interface Policy {
  readonly maxAuthAmountCents?: number
  readonly dailySpendCapCents?: number
  readonly dailyWithdrawalCapCents?: number
  readonly approveAboveCents?: number
  readonly limits?: readonly Limit[]
  readonly allowedIps?: readonly string[]
  readonly allowCardSecrets?: boolean
  readonly payees?: readonly string[]
  readonly denyPayees?: readonly string[]
  readonly allowOperations?: readonly string[]
  readonly denyOperations?: readonly string[]
  readonly notBefore?: string
  readonly notAfter?: string
  readonly timeZone?: string
  readonly alertAtPercent?: number
}

/** What a key has. */
export interface Rights {
  readonly scopes: readonly string[]
  /** All of them must allow. */
  readonly policies: readonly Policy[]
  readonly expiresAt?: string | null | undefined
}

/** Says in a few sentences what a key may do. `all` are the scopes that a key can have. */
export function keySentence({ scopes, policies, expiresAt }: Rights, all: readonly string[]): string {
  const isBlocked = policies.some(({ allowOperations }) => allowOperations?.length === 0)
  if (scopes.length === 0 || isBlocked) return 'May do nothing.'
  const paid = paidOperations({ scopes, policies })
  const rights = { withdraws: paid.includes('withdrawals.create'), ...otherRights(scopes, policies) }
  const isPaying = paid.length > 0
  const sentences = [
    isPaying ? paymentSentence(policies) : quietSentence(scopes, all),
    isPaying ? askingSentence(policies) : undefined,
    ...(isPaying ? alertSentences(policies) : []),
    ...rightSentences(rights, isPaying, withdrawalCap(policies)),
    ...policies.flatMap(operationSentences),
    ...(isPaying ? policies.flatMap(payeeSentences) : []),
    ...policies.flatMap(({ limits = [] }) => limits.filter(limit => !isMonth(limit)).map(limitSentence)),
    ...policies.map(({ timeZone }) => timeZone && `Days begin at midnight in ${timeZone}.`),
    ...policies.map(({ allowedIps }) => allowedIps && `Works only from ${allowedIps.join(', ')}.`),
    ...policies.map(({ notBefore }) => notBefore && `Not before ${utc(notBefore)}.`),
    ...policies.map(({ notAfter }) => notAfter && `Not after ${utc(notAfter)}.`),
    expiresAt ? `Ends ${day(expiresAt)}.` : undefined,
  ]
  return sentences.filter(text => text !== undefined).join(' ')
}

/** Whether a key may pay at all. */
export const mayPay = (rights: Omit<Rights, 'expiresAt'>): boolean => paidOperations(rights).length > 0

/** Whether a key may pay, and no policy says how much. */
export function paysWithoutLimit(rights: Omit<Rights, 'expiresAt'>): boolean {
  return mayPay(rights) && capWords(rights.policies).length === 0
}

function paidOperations({ scopes, policies }: Omit<Rights, 'expiresAt'>): string[] {
  return MONEY_OPERATIONS.filter(id => scopes.includes(writeScope(id)) && isAllowed(id, policies))
}

const WINDOWS: Readonly<Record<string, string>> = {
  operation: 'at once',
  day: 'a day',
  week: 'a week',
  month: 'a month',
  '24h': 'in 24 hours',
  '7d': 'in 7 days',
  '30d': 'in 30 days',
  total: 'in total',
}

/** Says what a limit allows, such as "At most 3 new cards in total". */
export function limitWords(limit: Limit): string {
  const { operations, window, maxCents, maxCount = 0, approveAboveCents: above } = limit
  const span = WINDOWS[window] ?? window
  if (above !== undefined) return `Asks you above ${usd(above)} ${span} for ${operationsWords(operations)}`
  const most =
    maxCents === undefined
      ? `${maxCount} ${operationsWords(operations, maxCount)} ${span}`
      : `${usd(maxCents)} ${span} for ${operationsWords(operations)}`
  return `At most ${most}${alertWords(limit)}`
}

/** Says when a limit gives an alert, after what it allows. */
export const alertWords = ({ alertAtPercent }: Limit): string =>
  alertAtPercent === undefined ? '' : `, and tells you at ${alertAtPercent} %`

/** Formats cents with their currency, such as "12.50 USD". */
export const usd = (cents: number): string => `${money(cents)} USD`

const limitSentence = (limit: Limit): string => `${limitWords(limit)}.`

/** Whether a limit is on everything that is spent in a month. */
export function isMonth({ operations, window, maxCents }: Limit): boolean {
  const isEverything = operations.length === MONEY_OPERATIONS.length
  return (
    isEverything &&
    operations.every(id => MONEY_OPERATIONS.includes(id)) &&
    window === 'month' &&
    maxCents !== undefined
  )
}

function paymentSentence(policies: readonly Policy[]): string {
  const words = capWords(policies)
  if (words.length === 0) return 'May pay as much as your balance holds.'
  return `May pay up to ${joined(words, 'and')}.`
}

/** Says from which amount on a key asks. Of several thresholds the lowest one asks first. */
function askingSentence(policies: readonly Policy[]): string | undefined {
  const above = least(policies.map(({ approveAboveCents }) => approveAboveCents))
  return above === undefined ? undefined : `Asks you above ${usd(above)}.`
}

/** Says when daily limits and those on everything that is spent in a month give an alert. */
function alertSentences(policies: readonly Policy[]): string[] {
  const daily = policies.flatMap(({ alertAtPercent }) => alertAtPercent ?? [])
  const months = policies.flatMap(({ limits = [] }) =>
    limits.filter(isMonth).flatMap(({ alertAtPercent }) => alertAtPercent ?? []),
  )
  const tells = (percents: readonly number[], what: string): string[] =>
    percents.length === 0 ? [] : [`Tells you when ${Math.min(...percents)} % of ${what} is used.`]
  return [...tells(daily, 'the limit of a day'), ...tells(months, 'the limit of a month')]
}

/** Says the caps on payments, such as "10.00 USD a day". Empty without one. */
function capWords(policies: readonly Policy[]): string[] {
  const months = policies.flatMap(({ limits = [] }) => limits.filter(isMonth).map(({ maxCents }) => maxCents))
  const caps = [
    [least(policies.map(({ maxAuthAmountCents }) => maxAuthAmountCents)), 'at once'],
    [least(policies.map(({ dailySpendCapCents }) => dailySpendCapCents)), 'a day'],
    [least(months), 'a month'],
  ] as const
  return caps.flatMap(([cents, span]) => (cents === undefined ? [] : [`${usd(cents)} ${span}`]))
}

function quietSentence(scopes: readonly string[], all: readonly string[]): string {
  const isReadOnly = readScopes(scopes).length === scopes.length
  if (!isReadOnly) return 'Moves no money.'
  const isWide = rightsWords(scopes, all) === 'Read only'
  return isWide ? 'May read everything, and changes nothing.' : 'May only read, and changes nothing.'
}

/** The most that withdrawals may move in a day: all that is spent in a day counts, too. */
const withdrawalCap = (policies: readonly Policy[]): number | undefined =>
  policies.some(({ dailyWithdrawalCapCents }) => dailyWithdrawalCapCents !== undefined)
    ? least(
        policies.flatMap(({ dailyWithdrawalCapCents, dailySpendCapCents }) => [
          dailyWithdrawalCapCents,
          dailySpendCapCents,
        ]),
      )
    : undefined

/** The rights that matter most beside paying. */
interface MainRights {
  readonly withdraws: boolean
  readonly seesNumbers: boolean
  readonly makesKeys: boolean
}

function otherRights(
  scopes: readonly string[],
  policies: readonly Policy[],
): Pick<MainRights, 'seesNumbers' | 'makesKeys'> {
  const hidesNumbers = policies.some(({ allowCardSecrets }) => allowCardSecrets === false)
  const reveals = ['cards.reveal', 'cards.openSecrets'].some(id => isAllowed(id, policies))
  return {
    seesNumbers: scopes.includes('cards.secrets.read') && !hidesNumbers && reveals,
    makesKeys: scopes.includes('keys.write') && isAllowed('keys.create', policies),
  }
}

function rightSentences(
  { withdraws, seesNumbers, makesKeys }: MainRights,
  isPaying: boolean,
  cap: number | undefined,
): (string | undefined)[] {
  const withdrawal = cap === undefined ? 'withdraw' : `withdraw up to ${usd(cap)} a day`
  const may = [withdraws && withdrawal, seesNumbers && 'see card numbers', makesKeys && 'make keys']
  const never = [
    isPaying && !withdraws && 'withdraw',
    !seesNumbers && 'see card numbers',
    !makesKeys && 'make keys',
  ]
  return [sentenceOf('May', may, 'and'), sentenceOf('May not', never, 'or')]
}

function sentenceOf(
  start: string,
  words: readonly (string | false)[],
  last: 'and' | 'or',
): string | undefined {
  const said = words.filter(word => word !== false)
  return said.length === 0 ? undefined : `${start} ${joined(said, last)}.`
}

const operationSentences = ({
  allowOperations = [],
  denyOperations = [],
}: Policy): (string | undefined)[] => [
  allowOperations.length > 0 ? `Only ${operationsWords(allowOperations)}.` : undefined,
  denyOperations.length > 0 ? `Never ${operationsWords(denyOperations)}.` : undefined,
]

const payeeSentences = ({ payees, denyPayees = [] }: Policy): (string | undefined)[] => [
  payees && (payees.length === 0 ? 'Pays nobody.' : `Pays only ${payeeWords(payees)}.`),
  denyPayees.length > 0 ? `Never pays ${payeeWords(denyPayees)}.` : undefined,
]

/** Names payees, such as "country DE or wallet 0x…". */
const payeeWords = (names: readonly string[]): string =>
  joined(
    names.map(name => name.replace(':', ' ')),
    'or',
  )

const tagOf = (operation: string): string => operation.slice(0, operation.indexOf('.'))
const writeScope = (operation: string): string => `${tagOf(operation)}.write`

/** Whether policies allow an operation at all, now or later. */
function isAllowed(operation: string, policies: readonly Policy[]): boolean {
  const isIn = (patterns: readonly string[]): boolean =>
    patterns.includes(operation) || patterns.includes(`${tagOf(operation)}.*`)
  return policies.every(
    ({ allowOperations, denyOperations = [] }) =>
      (allowOperations === undefined || isIn(allowOperations)) && !isIn(denyOperations),
  )
}

const least = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter(value => value !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

function joined(words: readonly string[], last: 'and' | 'or'): string {
  const head = words.slice(0, -1).join(', ')
  return head === '' ? (words[0] ?? '') : `${head} ${last} ${words.at(-1)}`
}

const DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})

const day = (at: string): string => DAY.format(new Date(at))
