import type { RecordedEvent } from '@gatewright/host'
import { limitWords } from '../../product/limit-words.ts'
import { limitAlert, type LimitAlert } from './limit-alert.ts'

/** Returns the kind of a notification: its subject and the new state, or the cause if the state did not change. */
export function kindOf({ subject, from, to, cause }: RecordedEvent): string {
  return `${subject.kind}.${to === null || to === from ? cause : to}`
}

/** The text for an operator's confirmation of a lock by the provider, the only event of an identity check that changes no state. */
const CONFIRMED_LOCK = [
  'Account still locked',
  'A person confirmed that your account is locked. Ask support.',
] as const

/**
 * Title and text of each kind. `{amount}` is replaced by the amount of the event. If the event has no amount, a text with
 * `{amount}` is cut to its first sentence. Never card data, addresses or personal data: only what is written here is shown.
 */
const TEXTS: Readonly<Record<string, readonly [title: string, text: string]>> = {
  'approval.approved': ['Payment approved', 'A payment was approved. It can be made now. Amount: {amount}.'],
  'approval.denied': ['Payment denied', 'A payment was denied. Amount: {amount}.'],
  'approval.expired': [
    'Approval ended',
    'A payment that a key asked for was not made in time, or the key was revoked or paused. Amount: {amount}.',
  ],
  'approval.requested': ['Payment waits for you', 'A key asks for a payment. Amount: {amount}.'],
  'authorization.authorized': ['Card payment', 'A card payment was authorized. Amount: {amount}.'],
  'authorization.cleared': ['Card payment completed', 'A card payment was completed. Amount: {amount}.'],
  'authorization.conflict': [
    'Card payment under review',
    'A card payment was asked for again with other terms, and declined. Support looks into it.',
  ],
  'authorization.declined': ['Card payment declined', 'A card payment was declined. Amount: {amount}.'],
  'authorization.excess': [
    'Card payment under review',
    'A shop reported more than could be booked; nothing moved. Amount: {amount}.',
  ],
  'authorization.increment_declined': [
    'Card payment not raised',
    'A shop asked for more on a card payment, which was declined. Amount: {amount}.',
  ],
  'authorization.incremented': ['Card payment raised', 'A card payment was raised. Amount: {amount}.'],
  'authorization.refunded': ['Card payment refunded', 'A card payment was refunded. Amount: {amount}.'],
  'authorization.resolved': ['Card payment checked', 'An open question about a card payment was settled.'],
  'authorization.reversed': ['Card payment reversed', 'A card payment was taken back. Amount: {amount}.'],
  'bill.open': ['New bill', 'A bill was added. Amount: {amount}.'],
  'bill.paid': ['Bill paid', 'A bill was paid from your balance. Amount: {amount}.'],
  'card.active': ['Card active', 'A card can be used.'],
  'card.canceled': ['Card canceled', 'A card was canceled and cannot be used again.'],
  'card.locked': ['Card locked', 'A card is locked until it is unlocked.'],
  'card.not_activated': ['New card', 'A card was made and waits to be activated.'],
  'card.revealed': [
    'Card details shown',
    'The number of a card was shown. Lock the card if this was not you.',
  ],
  'deposit.awaitingDeposit': ['Deposit opened', 'A deposit waits for your payment.'],
  'deposit.completed': ['Deposit received', 'A deposit was credited to your balance. Amount: {amount}.'],
  'deposit.failed': ['Deposit failed', 'A deposit failed. Nothing was credited.'],
  'deposit.paid': ['Another payment received', 'A further payment was credited. Amount: {amount}.'],
  'deposit.payment_conflict': [
    'Payment under review',
    'A payment to a deposit could not be credited. Support looks into it. Amount: {amount}.',
  ],
  'deposit.resolved': ['Deposit checked', 'An open question about a deposit was settled.'],
  'deposit.processing': ['Payment seen', 'A payment was seen and is being processed.'],
  'kyc.approved': ['Identity approved', 'Your identity check was approved.'],
  'kyc.denied': ['Identity check denied', 'Your identity check was denied. Ask support.'],
  'kyc.locked': ['Account locked', 'Your account was locked. Ask support.'],
  'kyc.canceled': ['Identity check ended', 'Your identity check was canceled. It can be started again.'],
  'kyc.manual_review': ['Identity check takes longer', 'A person looks at your identity check.'],
  'kyc.needs_information': ['More information needed', 'Your identity check needs more information.'],
  'kyc.needs_verification': ['Verification needed', 'Your identity check needs you to verify yourself.'],
  'kyc.operator': CONFIRMED_LOCK,
  'kyc.pending': ['Identity check started', 'Your identity check is under way.'],
  'kyc.simulated': CONFIRMED_LOCK,
  'limit.alert': ['Limit nearly used', 'A key has used much of a limit.'],
  'payin.canceled': ['Pay-in canceled', 'A pay-in was canceled. Amount: {amount}.'],
  'payin.expired': ['Pay-in expired', 'A pay-in was not paid in time. Amount: {amount}.'],
  'payin.failed': ['Pay-in failed', 'The transaction that was named did not pay a pay-in. Amount: {amount}.'],
  'payin.settled': ['Pay-in settled', 'A pay-in was paid. Amount: {amount}.'],
  'payment.completed': ['Payment received', 'Another wallet user paid you. Amount: {amount}.'],
  'subscription.canceled': ['Subscription canceled', 'A subscription was canceled. What is paid stays paid.'],
  'withdrawal.amount_differs': [
    'Withdrawal under review',
    'More was paid out for a withdrawal than was booked. Support looks into it.',
  ],
  'withdrawal.completed': ['Withdrawal completed', 'A withdrawal was paid out. Amount: {amount}.'],
  'withdrawal.failed': ['Withdrawal failed', 'A withdrawal failed; the money is back. Amount: {amount}.'],
  'withdrawal.paid_after_failure': [
    'Withdrawal paid late',
    'A withdrawal that had failed was paid out. Support looks into it.',
  ],
  'withdrawal.pending': ['Withdrawal started', 'A withdrawal is under way. Amount: {amount}.'],
  'withdrawal.returned': ['Withdrawal returned', 'A withdrawal came back. Support looks into it.'],
  'withdrawal.resolved': ['Withdrawal checked', 'An open question about a withdrawal was settled.'],
  'withdrawal.ready': ['Withdrawal on its way', 'A withdrawal was handed over. Amount: {amount}.'],
}
/** As the pages write money: 9,999.00. */
const DOLLARS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const OTHER = ['Something changed', 'Something of your account changed.'] as const

/** Says how much of a limit a key has used, such as `82 % of a limit of a key is used: 50.00 USD a day (41.00 USD used).` */
function alertText({ limit: cap, resetsAt, ...alert }: LimitAlert): string {
  const percent = Math.floor((alert.used * 100) / cap)
  const counts =
    resetsAt === null
      ? 'It always counts.'
      : `It counts until ${resetsAt.slice(0, 16).replace('T', ' ')} UTC.`
  return `${percent} % of a limit of a key is used: ${limitWords([{ ...alert, cap }])}. ${counts}`
}

/** Returns title and text of a notification. */
export function textOf(event: RecordedEvent): { readonly title: string; readonly text: string } {
  const [title, text] = TEXTS[kindOf(event)] ?? OTHER
  const { amountCents } = event
  const alert = limitAlert(event)
  if (alert) return { title, text: alertText(alert) }
  if (amountCents === null) return { title, text: text.replace(' Amount: {amount}.', '') }
  return { title, text: text.replace('{amount}', `${DOLLARS.format(amountCents / 100)} USD`) }
}
