import t from 'tap'
import * as internals from '../../../harness/internals.ts'

const { DECIDED_STATUSES, DEPOSIT_STATUSES, WITHDRAWAL_STATUSES, textOf } = internals

/** The states of each kind of subject, and the causes of its events that change no state. */
const RECORDED: Readonly<Record<string, readonly (readonly string[])[]>> = {
  authorization: [
    ['authorized', 'cleared', 'declined', 'reversed'],
    ['excess', 'refunded', 'resolved'],
  ],
  bill: [['open', 'paid'], []],
  card: [['active', 'canceled', 'locked', 'not_activated'], ['revealed']],
  deposit: [DEPOSIT_STATUSES, ['paid', 'payment_conflict', 'resolved']],
  kyc: [DECIDED_STATUSES, ['operator', 'simulated']],
  payin: [['canceled', 'expired', 'failed', 'settled'], []],
  payment: [['completed'], []],
  subscription: [['canceled'], []],
  withdrawal: [WITHDRAWAL_STATUSES, ['amount_differs', 'paid_after_failure', 'resolved', 'returned']],
}

t.test('each kind of notification has a text', async t => {
  for (const [kind, [states = [], causes = []]] of Object.entries(RECORDED)) {
    const event = {
      id: 'evt_1',
      position: 1,
      number: 1,
      accountId: 'acc_1',
      subject: { kind, id: 'id_1' },
      amountCents: null,
      detail: null,
      at: 0,
      readAt: null,
    }
    const events = [
      ...states.map(to => ({ ...event, from: null, to, cause: 'changed' })),
      ...causes.map(cause => ({ ...event, from: 'same', to: 'same', cause })),
    ]
    for (const each of events)
      t.not(textOf(each).title, 'Something changed', `${kind} ${each.to} ${each.cause}`)
  }
})
