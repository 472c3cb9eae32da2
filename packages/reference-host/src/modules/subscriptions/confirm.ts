import * as Type from 'typebox/type'
import type { Static } from 'typebox/type'
import { ledgerWrite, type Call, type Operation } from '../../server/operation.ts'
import type { ModuleServices } from '../services.ts'
import { named } from '../shapes.ts'
import { answered, lockedPayin, PayinId, refused } from './confirm-balance.ts'
import * as examples from './examples.ts'
import { isOpen } from './states.ts'
import { applySighting, type ChainView } from './sightings.ts'
import { PayinAnswer } from './wire.ts'

const Body = Type.Object(
  {
    payinId: PayinId,
    txHash: Type.String({ pattern: '^0x[0-9a-fA-F]{64}$', description: 'The hash of the transaction' }),
  },
  named('ConfirmPayinRequest', 'Which transaction pays which pay-in'),
)

/** Moves after which no further transaction is taken, so that a history stays readable. */
const MAX_MOVES = 30

/** `POST /user/v1/subscriptions/payin/confirm`: says which transaction pays a pay-in (contract section 9). */
export function confirmPayin(services: ModuleServices): Operation {
  const { clock, payins } = services
  return ledgerWrite({
    id: 'subscriptions.confirm',
    title: 'Name the transaction that pays a pay-in',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/subscriptions/payin/confirm'],
    credential: 'session',
    scopes: ['subscriptions.write'],
    body: Body,
    answer: PayinAnswer,
    example: {
      body: { payinId: examples.onchainPayin.id, txHash: examples.TX_HASH },
      answer: { payin: { ...examples.onchainPayin, status: 'confirming', txHash: examples.TX_HASH } },
    },
    refuses: [404],
    // Nothing leaves an account here: a payment on a chain comes from outside.
    spends: false,
    ask: call => askChain(services, call),
    async write({ caller, body }, { tx, asked }) {
      const now = clock.now()
      const locked = await lockedPayin(payins, tx, caller.session.accountId, body.payinId)
      if (!locked.ok) return locked
      const payin = locked.value
      if (payin.status === 'settled') return answered(payin)
      if (!payin.payTo) return refused('has no address to pay to: pay it from the balance')
      const submittedTx = body.txHash.toLowerCase()
      if (payin.submittedTx !== submittedTx && payin.moves >= MAX_MOVES) {
        return refused('was given too many transactions: wait for its deadline')
      }
      const submitted =
        payin.submittedTx === submittedTx
          ? payin
          : await payins.move(tx, payin, 'submitted', { submittedTx, detail: submittedTx }, now)
      return answered(asked ? await applySighting(services, tx, submitted, asked, now) : submitted)
    },
  })
}

/**
 * What the chain says of the transaction. A chain that cannot be asked is no reason to refuse: the pay-in is confirming
 * then, and the watcher settles it. A pay-in that has ended, as on the replay of a stored answer, costs no question.
 */
async function askChain(
  { db, payins, receivers, lookups }: ModuleServices,
  { caller, body }: Call<'session', Static<typeof Body>>,
): Promise<ChainView | undefined> {
  const { accountId } = caller.session
  const payin = await payins.find(db, accountId, body.payinId)
  if (!payin?.payTo || !isOpen(payin.status)) return undefined
  const { chainId, token } = payin.payTo
  const receiver = receivers.find(each => each.chainId === chainId && each.token === token)
  if (!receiver) return undefined
  const view = await lookups.find(accountId, chainId, body.txHash.toLowerCase())
  return view && { ...view, confirmations: receiver.confirmations }
}
