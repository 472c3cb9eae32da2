import { csvAmount, csvInstant, csvInteger, type CsvColumns } from '../../csv.ts'
import type { Payin } from '../payins/payin.ts'

/** The columns of an export of pay-ins. The address and the token are those to pay to, and empty without a receiver. */
export const payinColumns: CsvColumns<Payin> = {
  id: ({ id }) => id,
  created_at: ({ createdAt }) => csvInstant(createdAt),
  expires_at: ({ expiresAt }) => csvInstant(expiresAt),
  status: ({ status }) => status,
  amount: ({ amountCents }) => csvAmount(amountCents),
  amount_cents: ({ amountCents }) => csvInteger(amountCents),
  currency: ({ currency }) => currency,
  method: ({ method }) => method,
  plan: ({ planId }) => planId,
  description: ({ description }) => description,
  subscription_id: ({ subscriptionId }) => subscriptionId,
  asset: ({ payTo }) => payTo?.asset ?? null,
  pay_to: ({ payTo }) => payTo?.address ?? null,
  tx_hash: ({ seen, submittedTx }) => seen?.txHash ?? submittedTx,
  key_id: ({ keyId }) => keyId,
}
