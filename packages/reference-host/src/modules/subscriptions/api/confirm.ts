import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import type { Static } from 'typebox/type'
import { component } from '@gatewright/host/schemas'
import { type HostServices, type Call, type Operation, ledgerWrite } from '@gatewright/host'
import { applyTransfers, type ChainView } from '../onchain/apply-transfers.ts'
import { isOpen } from '../payins/states.ts'
import * as examples from './examples.ts'
import { PayinResponse } from './fields.ts'
import { denyPayin, lockPayin, PayinId, payinSuccess } from './lock-payin.ts'
import { payins } from '../payins/payin-store.ts'
import type { PayinReceiver } from '../../../chain/receivers.ts'
import type { TransactionLookups } from '../../../chain/transaction-lookups.ts'
import type { PayinSettlement } from '../payins/settlement.ts'

/** What the confirmation of a pay-in by its transaction works with. */
interface ConfirmServices extends Pick<HostServices, 'db' | 'clock'> {
  readonly receivers: readonly PayinReceiver[]
  readonly lookups: TransactionLookups
  readonly settlement: PayinSettlement
}

const Body = Type.Object(
  {
    payinId: PayinId,
    txHash: Type.String({ pattern: '^0x[0-9a-fA-F]{64}$', description: 'The hash of the transaction' }),
  },
  component('ConfirmPayinRequest', 'Which transaction pays which pay-in'),
)

/** The number of moves after which no further transaction is accepted, so that histories stay short. */
const MAX_MOVES = 30

/** `POST /user/v1/subscriptions/payin/confirm`: submits the transaction that pays a pay-in. */
export function confirmPayin(services: ConfirmServices): Operation {
  const { clock } = services
  return ledgerWrite({
    id: 'subscriptions.confirm',
    title: 'Submit a transaction',
    details: 'The one that pays a pay-in.',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/subscriptions/payin/confirm'],
    credential: 'session',
    scopes: ['subscriptions.write'],
    body: Body,
    response: PayinResponse,
    example: {
      body: { payinId: examples.onchainPayin.id, txHash: examples.TX_HASH },
      response: { payin: { ...examples.onchainPayin, status: 'confirming', txHash: examples.TX_HASH } },
    },
    denies: [404],
    // No money leaves an account: the payment comes from outside.
    spends: false,
    prepare: async call => allow(await askChain(services, call)),
    async write({ caller, body }, { tx, prepared }) {
      const now = clock.now()
      const locked = await lockPayin(tx, caller.session.accountId, body.payinId)
      if (!locked.ok) return locked
      const payin = locked.value
      if (payin.status === 'settled') return payinSuccess(payin)
      if (!payin.payTo) return denyPayin('has no address to pay to: pay it from the balance')
      const submittedTx = body.txHash.toLowerCase()
      if (payin.submittedTx !== submittedTx && payin.moves >= MAX_MOVES) {
        return denyPayin('was given too many transactions: wait for its deadline')
      }
      const submitted =
        payin.submittedTx === submittedTx
          ? payin
          : await payins.move(tx, payin, 'submitted', { submittedTx, detail: submittedTx, now })
      const view = prepared && { ...prepared, now }
      return payinSuccess(view ? await applyTransfers(services, tx, submitted, view) : submitted)
    },
  })
}

/**
 * Reads the transaction from its chain. Undefined when the chain cannot be read: the pay-in then becomes `confirming` and the
 * watcher settles it. For a closed pay-in, as in a replay of a stored response, the node is not called.
 */
async function askChain(
  { db, receivers, lookups }: Pick<ConfirmServices, 'db' | 'receivers' | 'lookups'>,
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
