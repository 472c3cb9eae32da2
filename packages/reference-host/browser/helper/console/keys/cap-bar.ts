import { el, type Child } from '../../../shared/dom.ts'
import { capAmount, capName, capReset, capUnit } from './cap-words.ts'
import type { Cap } from '../wire.ts'

/** Shows a cap as a bar, with its numbers in words. `binds`: no other cap of the key will be reached earlier. */
export function capBar(cap: Cap, binds: boolean, origin: Child): HTMLElement {
  const reserved = cap.reserved ?? 0
  const used = Math.max(0, cap.used - reserved)
  const parts: Child[] =
    cap.window === 'operation'
      ? [`At most ${capAmount(cap, cap.cap)} ${capUnit(cap)}.`]
      : [
          `${capAmount(cap, used)} used, `,
          cap.reserved === undefined ? undefined : `${capAmount(cap, reserved)} reserved, `,
          el('strong', {}, `${capAmount(cap, cap.remaining)} free`),
          ` of ${capAmount(cap, cap.cap)} ${capUnit(cap)}.`,
        ]
  return el(
    'li',
    { class: binds ? 'cap binds' : 'cap' },
    el(
      'p',
      { class: 'cap-name' },
      el('span', {}, capName(cap)),
      binds && el('span', { class: 'badge warn' }, 'Closest limit'),
      origin,
    ),
    cap.window !== 'operation' && usageBar(cap),
    el('p', { class: 'cap-words' }, ...parts),
    el('p', { class: 'cap-words muted' }, capReset(cap)),
  )
}

/** Draws how much of a cap is used and reserved. It is hidden from screen readers, because the words beside it say the same. */
export function usageBar({
  cap,
  used: total,
  reserved = 0,
}: Pick<Cap, 'cap' | 'used' | 'reserved'>): HTMLElement {
  const used = Math.max(0, total - reserved)
  const piece = (name: string, amount: number): HTMLElement => {
    const part = el('span', { class: `bar-${name}` })
    part.style.inlineSize = `${cap === 0 ? 0 : Math.min(100, (amount / cap) * 100)}%`
    return part
  }
  const full = cap === 0 || used + reserved >= cap
  return el(
    'div',
    { class: full ? 'bar full' : 'bar', 'aria-hidden': 'true' },
    piece('used', used),
    piece('reserved', reserved),
  )
}
