import { type Row, instant, integer, nullable, position, table, text } from '@gatewright/host/tables'

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

/** Says to whom a bill is paid and what for: "Bill of City Power · INV-1". */
export const billWords = ({ payee, reference }: Pick<Bill, 'payee' | 'reference'>): string =>
  `Bill of ${payee}${reference === null ? '' : ` · ${reference}`}`
