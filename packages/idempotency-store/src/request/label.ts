import { storableText } from '@gatewright/kernel/internal'
import type { RunLabel } from '../storage/port.ts'
import type { IdempotentRequest } from './identify.ts'

/** The longest text of a label, in UTF-16 code units. */
const LONGEST = 512

/** Makes the label of a run. */
export function labelOf({
  operation,
  account,
  accountLabel = account,
}: Pick<IdempotentRequest, 'operation' | 'account' | 'accountLabel'>): RunLabel {
  return { operation: labelText(operation), account: labelText(accountLabel) }
}

/** Returns a text as it is kept in a label: cut, and without what not every store keeps. */
export const labelText = (text: string): string => storableText(text, LONGEST)
