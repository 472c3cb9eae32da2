/** How a payment ended. */
export interface TestReceipt<Payment> {
  /** The id that the processor gave it. A repeat of the request gets the same. */
  readonly id: string
  readonly status: 'paid' | 'declined'
  readonly payment: Payment
  readonly idempotencyKey: string
}

/** A payment processor in memory, which a test tells what to do with the next requests. */
export interface TestProcessor<Payment> {
  /** What was paid, in order. A repeat adds nothing, and a payment whose response was lost is here. */
  readonly paid: readonly TestReceipt<Payment>[]
  /** How many requests arrived, also repeats and those that failed. */
  readonly requests: number
  /**
   * Pays once for each idempotency key: a repeat gets the receipt of the first request, whatever its outcome, and a key that comes with
   * another payment is rejected. Rejects with `ECONNREFUSED` or `ETIMEDOUT` as the test said.
   */
  pay(payment: Payment, options: { readonly idempotencyKey: string }): Promise<TestReceipt<Payment>>
  /** Declines the next request: it is a receipt of status `declined`, and nothing is paid. */
  declineNext(): void
  /** Makes the next request fail before any effect, with the code `ECONNREFUSED`. */
  failNext(): void
  /** Makes the next request take effect and lose its response: it rejects with the code `ETIMEDOUT`. */
  timeOutNext(): void
}

type Next = 'pay' | 'decline' | 'fail' | 'time out'

const networkError = (code: string, message: string): Error => Object.assign(new Error(message), { code })

/** Makes a payment processor in memory. What `declineNext` and the like say holds for one request each, in their order. */
export function testProcessor<Payment = unknown>(): TestProcessor<Payment> {
  const receipts = new Map<string, { readonly receipt: TestReceipt<Payment>; readonly text: string }>()
  const paid: TestReceipt<Payment>[] = []
  const next: Next[] = []
  let requests = 0

  const receiptOf = (payment: Payment, idempotencyKey: string, isDeclined: boolean): TestReceipt<Payment> => {
    const text = JSON.stringify(payment)
    const known = receipts.get(idempotencyKey)
    if (known && known.text !== text)
      throw new Error(`testProcessor: the idempotency key ${idempotencyKey} came with another payment before`)
    if (known) return known.receipt
    const receipt: TestReceipt<Payment> = {
      id: `payment-${receipts.size + 1}`,
      status: isDeclined ? 'declined' : 'paid',
      payment,
      idempotencyKey,
    }
    receipts.set(idempotencyKey, { receipt, text })
    if (!isDeclined) paid.push(receipt)
    return receipt
  }

  return {
    paid,
    get requests() {
      return requests
    },
    async pay(payment, { idempotencyKey }) {
      if (typeof idempotencyKey !== 'string' || idempotencyKey === '')
        throw new TypeError('testProcessor: pay needs an idempotencyKey: pass the effectId of the request')
      requests++
      const outcome = next.shift() ?? 'pay'
      if (outcome === 'fail')
        throw networkError('ECONNREFUSED', 'testProcessor: connection refused, nothing was paid')
      const receipt = receiptOf(payment, idempotencyKey, outcome === 'decline')
      if (outcome === 'time out')
        throw networkError('ETIMEDOUT', 'testProcessor: timed out, the request took effect')
      return receipt
    },
    declineNext: () => void next.push('decline'),
    failNext: () => void next.push('fail'),
    timeOutNext: () => void next.push('time out'),
  }
}
