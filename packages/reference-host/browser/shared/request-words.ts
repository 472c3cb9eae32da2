import { money } from './money.ts'
import { kindTitle } from './operations.ts'

/** The members of a kept request that its words are made from. */
export interface WordedRequest {
  readonly operation: string
  /** The title of the operation. */
  readonly title: string
  readonly status: number
  readonly error: string | null
  readonly rule: string | null
  readonly details: unknown
}

/** What each rule refuses for, as a badge says it. A rule of a later host is shown by its name. */
export const RULE_WORDS: Readonly<Record<string, string>> = {
  denyOperations: 'operation forbidden',
  allowOperations: 'operation not allowed',
  notBefore: 'not allowed yet',
  notAfter: 'no longer allowed',
  allowedIps: 'address not allowed',
  allowCardSecrets: 'card numbers forbidden',
  denyPayees: 'payee forbidden',
  payees: 'payee not allowed',
  maxAuthAmountCents: 'limit per payment',
  approveAboveCents: 'needs an approval',
  dailySpendCapCents: 'daily limit',
  dailyWithdrawalCapCents: 'daily limit of withdrawals',
  limits: 'limit',
  currency: 'currency without a rate',
  key_authority: 'not a key of its own',
  key_paused: 'key paused',
  max_depth: 'too many levels of keys',
  max_live_keys: 'too many keys',
  already_rotated: 'rotated before',
  approved_key: 'not what was approved',
  max_unpaid_addresses: 'too many unpaid addresses',
  max_unpaid_addresses_of_client: 'too many unpaid addresses',
  account_locked: 'account locked',
  kyc_required: 'identity check needed',
  agreements_required: 'agreements not accepted',
  data_key_never_leaves: 'key is never shown',
  cross_origin: 'another website',
  max_contracts: 'too many contracts',
  max_bills: 'too many bills',
  card_above_caller: 'card of a key above',
  max_cards: 'too many cards',
  max_folders: 'too many folders',
  max_deposits: 'too many deposits',
  max_withdrawals: 'too many withdrawals',
  max_payins: 'too many pay-ins',
}
const CODE_WORDS: Readonly<Record<string, string>> = {
  insufficient_balance: 'balance too low',
  insufficient_scope: 'permission missing',
  invalid_request: 'mistake in the request',
  outcome_unknown: 'outcome unknown',
  unauthorized: 'not signed in',
  wrong_surface: 'credential of the other surface',
}
/** The windows of an entry of `limits`. */
const WINDOW_WORDS: Readonly<Record<string, string>> = {
  operation: 'limit per payment',
  day: 'daily limit',
  week: 'weekly limit',
  month: 'monthly limit',
  '24h': 'limit of 24 hours',
  '7d': 'limit of 7 days',
  '30d': 'limit of 30 days',
  total: 'limit in total',
}

const member = (details: unknown, name: string): unknown =>
  typeof details === 'object' && details !== null ? (details as Record<string, unknown>)[name] : undefined

/** Why a request was refused, in a few words: "daily limit". `details` are the facts of the error. */
export function reasonWords({
  rule,
  error,
  details,
}: Pick<WordedRequest, 'rule' | 'error' | 'details'>): string {
  const window = rule === 'limits' ? WINDOW_WORDS[String(member(details, 'window'))] : undefined
  if (rule !== null) return window ?? RULE_WORDS[rule] ?? rule
  return CODE_WORDS[error ?? ''] ?? (error ?? 'unknown').replaceAll('_', ' ')
}

/** What was decided, for a badge: "Refused · daily limit". */
export function resultWords(request: Pick<WordedRequest, 'status' | 'rule' | 'error' | 'details'>): string {
  const { status } = request
  if (status < 400) return 'Allowed'
  if (status === 429) return 'Rate limited'
  return `${status < 500 ? 'Refused' : 'Failed'} · ${reasonWords(request)}`
}

/** The colour of a decision. */
export const resultTone = (status: number): string => (status < 400 ? 'ok' : status < 500 ? 'bad' : 'warn')

/** The amount that a cap or the balance refused, in cents; undefined where none was asked about. */
export function requestedCents({ details }: Pick<WordedRequest, 'details'>): number | undefined {
  const requested = member(details, member(details, 'unit') === 'cents' ? 'requested' : 'requestedCents')
  return typeof requested === 'number' ? requested : undefined
}

/** What was requested, without its amount: "Pay-in". */
export const operationTitle = ({ operation, title }: Pick<WordedRequest, 'operation' | 'title'>): string =>
  kindTitle(operation) ?? title

/** What was requested: "Pay-in of 11.63 USD". */
export function requestTitle(request: WordedRequest): string {
  const cents = requestedCents(request)
  return operationTitle(request) + (cents === undefined ? '' : ` of ${money(cents)} USD`)
}
