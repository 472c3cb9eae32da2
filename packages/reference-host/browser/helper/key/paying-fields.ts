import { el } from '../../shared/dom.ts'
import { limitFields, type LimitFields } from './limit-fields.ts'
import { payeeField } from './payees.ts'
import type { Policy } from './sentence.ts'
import { zoneField } from './zone-field.ts'

/** Makes the fields for what a new key may pay: its limits, the time zone of their days, and to whom. */
export function payingFields(): LimitFields {
  const limits = limitFields()
  const zone = zoneField()
  const payees = payeeField()
  const withLimits = (limitPolicy: Policy | undefined): Policy | undefined => {
    const [timeZone, paid] = [zone.zone(), payees.read()]
    if (!limitPolicy || !paid) return undefined
    return {
      ...limitPolicy,
      ...(timeZone === undefined ? {} : { timeZone }),
      ...(paid.length === 0 ? {} : { payees: paid }),
    }
  }
  return {
    element: el('div', { class: 'form' }, limits.element, zone.element, payees.element),
    propose: values => limits.propose(values),
    peek: () => withLimits(limits.peek()),
    read() {
      const limitPolicy = limits.read()
      // The first wrong field has the focus.
      return limitPolicy && payees.check() ? withLimits(limitPolicy) : undefined
    },
  }
}
