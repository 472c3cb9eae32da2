/** A kind of operation that a limit can name, with a word for its singular and its plural. */
interface OperationKind {
  readonly operations: readonly string[]
  readonly one: string
  readonly many: string
  /** What a request of this kind is called. */
  readonly title: string
  readonly movesMoney: boolean
}

/** The kinds of operations for which a person can set a limit. */
export const OPERATION_KINDS: readonly OperationKind[] = [
  kind(['payments.create'], 'payment', 'payments', 'Payment'),
  kind(['cards.authorize'], 'card payment', 'card payments', 'Card payment'),
  kind(['bills.pay'], 'paid bill', 'bills', 'Bill'),
  kind(
    ['subscriptions.checkout', 'subscriptions.confirmBalance', 'subscriptions.payin'],
    'pay-in',
    'subscriptions and pay-ins',
    'Pay-in',
  ),
  kind(['withdrawals.create'], 'withdrawal', 'withdrawals', 'Withdrawal'),
  kind(['cards.create', 'cards.execute'], 'new card', 'new cards', 'New card', false),
  kind(['keys.create'], 'new key', 'new keys', 'New key', false),
]

/** Every operation that moves money out of the balance. */
export const MONEY_OPERATIONS: readonly string[] = OPERATION_KINDS.filter(
  ({ movesMoney }) => movesMoney,
).flatMap(({ operations }) => operations)

/** The operations that make a card. */
export const CARD_OPERATIONS: readonly string[] = ['cards.create', 'cards.execute']

/** Names operations in the plural, such as "card payments"; ids that no kind has are named as they are. */
export function operationsWords(operations: readonly string[], count?: number): string {
  if (isSame(operations, MONEY_OPERATIONS))
    return count === 1 ? 'payment of any kind' : 'payments of any kind'
  const found = OPERATION_KINDS.find(each => isSame(each.operations, operations))
  if (found) return count === 1 ? found.one : found.many
  return operations.map(id => (id.endsWith('.*') ? id.slice(0, -2) : id)).join(', ')
}

/** What a request of an operation is called, if it is of one of these kinds: "Pay-in". */
export function kindTitle(operation: string): string | undefined {
  return OPERATION_KINDS.find(({ operations }) => operations.includes(operation))?.title
}

function kind(
  operations: readonly string[],
  one: string,
  many: string,
  title: string,
  movesMoney = true,
): OperationKind {
  return { operations, one, many, title, movesMoney }
}

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every(id => others.includes(id))
