import { money } from '@gatewright/host/internal'
import { WINDOW_WORDS } from '@gatewright/scope-guard/internal'

/** A limit on money or calls: a cap of a policy, with what is used of it where that is known. */
export interface Limit {
  readonly rule: string
  /** The operations that it counts; undefined for all that move money. */
  readonly operations?: readonly string[] | undefined
  readonly unit: 'cents' | 'count'
  readonly window: string
  readonly cap: number
  readonly used?: number | undefined
  readonly alertAtPercent?: number | undefined
}

/** The limit above which a payment waits for an approval, of one operation or of a window. It bounds nothing. */
const THRESHOLD = 'approveAboveCents'
const isThreshold = ({ rule }: Limit): boolean => rule === THRESHOLD

const SPANS: Readonly<Record<string, string>> = WINDOW_WORDS

/** Returns the limits that a policy document states. Nothing is known of what is used. */
export function limitsOf(document: unknown): Limit[] {
  if (typeof document !== 'object' || document === null) return []
  const { limits, ...policy } = document as Readonly<Record<string, unknown>>
  const caps = [
    ['maxAuthAmountCents', 'operation'],
    [THRESHOLD, 'operation'],
    ['dailySpendCapCents', 'day'],
    ['dailyWithdrawalCapCents', 'day'],
  ] as const
  const found: Limit[] = caps.flatMap(([rule, window]) => {
    const cap = policy[rule]
    return typeof cap === 'number' ? [{ rule, window, unit: 'cents', cap }] : []
  })
  // A response of another host may be anything.
  for (const limit of Array.isArray(limits) ? (limits as readonly unknown[]) : []) {
    const { operations, window, maxCents, maxCount, approveAboveCents } = Object(limit) as Readonly<
      Record<string, unknown>
    >
    const names = [operations].flat().map(String)
    const about = { rule: 'limits', operations: names, window: String(window) }
    if (typeof maxCents === 'number') found.push({ ...about, unit: 'cents', cap: maxCents })
    if (typeof maxCount === 'number') found.push({ ...about, unit: 'count', cap: maxCount })
    if (typeof approveAboveCents === 'number')
      found.push({ ...about, rule: THRESHOLD, unit: 'cents', cap: approveAboveCents })
  }
  return found
}

/**
 * Says limits in one line, such as `10.00 USD at once, 50.00 USD a day (44.00 USD used)`. Of several of the same kind the lowest binds, and is
 * named alone. An empty text without limits.
 */
export function limitWords(limits: readonly Limit[]): string {
  const lowest = new Map<string, Limit>()
  for (const limit of limits) {
    const kind = [limit.rule, limit.window, limit.unit, ...(limit.operations ?? [])].join(' ')
    const other = lowest.get(kind)
    if (other === undefined || limit.cap < other.cap) lowest.set(kind, limit)
  }
  const spans = Object.keys(SPANS)
  const place = (limit: Limit): number => (isThreshold(limit) ? spans.length : spans.indexOf(limit.window))
  const sorted = [...lowest.values()].toSorted((a, b) => place(a) - place(b))
  return sorted.map(words).join(', ')
}

function words({ rule, operations, unit, window, cap, used = 0 }: Limit): string {
  if (rule === THRESHOLD) {
    const span = window === 'operation' ? [] : [SPANS[window] ?? window]
    return ['asks above', money(cap), ...span, ...(operations ? ['for', operations.join(' and ')] : [])].join(
      ' ',
    )
  }
  const amount = (value: number): string => (unit === 'cents' ? money(value) : String(value))
  const counted = rule === 'dailyWithdrawalCapCents' ? ['withdrawals'] : (operations ?? [])
  const isUsed = used > 0 ? [`(${amount(used)} used)`] : []
  return [counted.join(' and '), amount(cap), SPANS[window] ?? window, ...isUsed].filter(Boolean).join(' ')
}

const AND = new Intl.ListFormat('en-GB', { type: 'conjunction' })
const OR = new Intl.ListFormat('en-GB', { type: 'disjunction' })

/** What a key has, for `rightsSentence`. */
interface Rights {
  readonly scopes: readonly string[]
  readonly limits: readonly Limit[]
  /** Its policy documents, from the root of its chain to its own. */
  readonly documents: readonly unknown[]
}

/** Says what a key may do, such as `May pay up to 50.00 USD a day. May make keys. May not withdraw or see card numbers.` */
export function rightsSentence({ scopes, limits, documents }: Rights): string {
  const isFrozen = documents.some(
    document => (document as { allowOperations?: readonly string[] } | null)?.allowOperations?.length === 0,
  )
  if (scopes.length === 0 || isFrozen) return 'May do nothing.'
  const isPaying = ['payments', 'bills', 'withdrawals', 'cards'].some(tag => scopes.includes(`${tag}.write`))
  const bound = limitWords(limits.filter(limit => !isThreshold(limit)))
  const asking = limitWords(documents.flatMap(limitsOf).filter(isThreshold))
  const paying = bound === '' ? 'May pay as much as the balance holds.' : `May pay up to ${bound}.`
  const alerts = limits.flatMap(({ alertAtPercent }) => alertAtPercent ?? [])
  const percents = [...new Set(alerts)].toSorted((a, b) => a - b).map(percent => `${percent} %`)
  const rights = [
    ['withdraw', 'withdrawals.write'],
    ['see card numbers', 'cards.secrets.read'],
    ['make keys', 'keys.write'],
  ] as const
  const may = rights.filter(([, scope]) => scopes.includes(scope)).map(([right]) => right)
  const never = rights.filter(([, scope]) => !scopes.includes(scope)).map(([right]) => right)
  return [
    isPaying ? paying : 'Pays nothing.',
    isPaying && asking !== '' ? `${asking.replace('asks', 'Asks')}.` : '',
    percents.length > 0 ? `Tells its owner at ${AND.format(percents)} of a limit.` : '',
    may.length > 0 ? `May ${AND.format(may)}.` : '',
    never.length > 0 ? `May not ${OR.format(never)}.` : '',
  ]
    .filter(Boolean)
    .join(' ')
}
