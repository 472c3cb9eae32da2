import type { Transaction } from '@gatewright/host'
import { csvAmount, csvInstant, csvInteger, type CsvColumns } from '../csv.ts'

/** The columns of an export. Amounts are never negative: `direction` says whether money left the balance. */
export const transactionColumns: CsvColumns<Transaction> = {
  id: ({ id }) => id,
  created_at: ({ createdAt }) => csvInstant(createdAt),
  updated_at: ({ updatedAt }) => csvInstant(updatedAt),
  type: ({ type }) => type,
  status: ({ status }) => status,
  direction: ({ direction }) => direction,
  amount: ({ amountCents }) => csvAmount(amountCents),
  amount_cents: ({ amountCents }) => csvInteger(amountCents),
  currency: () => 'USD',
  description: ({ description }) => description,
  counterparty: ({ counterparty }) => counterparty,
  merchant: ({ merchant }) => merchant?.name ?? null,
  memo: ({ memo }) => memo,
  card_id: ({ cardId }) => cardId,
  key_id: ({ keyId }) => keyId,
  source_kind: ({ source }) => source.kind,
  source_id: ({ source }) => source.id,
}
