import { instant, integer, nullable, position, text } from '../../records/columns.ts'
import { table, type Row } from '../../records/table.ts'

/** The bills that accounts have recorded: what they owe to somebody outside. A bill without `paidAt` is open. */
export const bills = table('gw_bills', {
  id: text,
  position,
  accountId: text,
  payee: text,
  amountCents: integer,
  reference: nullable(text),
  dueAt: instant,
  paidAt: nullable(instant),
  createdAt: instant,
})
export type Bill = Row<typeof bills>
