import { ask } from '../../../shared/dialog.ts'
import { el, fill, type Child } from '../../../shared/dom.ts'
import { announce } from '../../../shared/live.ts'
import { limitFields, type CapName, type CapsNow } from '../../key/limit-fields.ts'
import { MONEY_OPERATIONS } from '../../../shared/operations.ts'
import { usd } from '../../key/sentence.ts'
import { keyName } from '../all-keys.ts'
import type { ConsoleContext } from '../context.ts'
import type { KeyAction } from './key-actions.ts'
import { readKeyCaps } from './read-caps.ts'
import { notDone, problemNote } from '../states.ts'
import type { Cap, Key } from '../wire.ts'

/** Removes scopes from a key, or adds lower limits to it. It needs no signature, because it only takes rights away. */
export async function tightenKey(
  context: ConsoleContext,
  key: Key,
  { problemBox, reload }: KeyAction,
): Promise<void> {
  const caps = await readKeyCaps(context, key.id)
  if (!caps.ok)
    return fill(
      problemBox,
      problemNote('The limits of the key cannot be shown. Nothing was changed.', caps.problem),
    )
  const boxes = key.scopes.map(scope => el('input', { type: 'checkbox', value: scope, checked: true }))
  const limits = limitFields({ now: capsNow(caps.data) })
  const yes = await ask({
    title: `Tighten the limits of ${keyName(key)}`,
    body: [
      el(
        'p',
        {},
        'You can remove rights or lower limits. Active sessions end now. To allow more, create another key.',
      ),
      el('fieldset', { class: 'form' }, el('legend', { class: 'label' }, 'New limits'), limits.element),
      scopeChoices(key, boxes),
    ],
    confirm: 'Tighten limits',
    check: () => limits.read() !== undefined,
  })
  const policy = limits.peek()
  if (!yes || !policy) return undefined
  const scopes = boxes.filter(({ checked }) => checked).map(({ value }) => value)
  const change = {
    ...(scopes.length < key.scopes.length ? { scopes } : {}),
    ...(Object.keys(policy).length > 0 ? { policy } : {}),
  }
  if (Object.keys(change).length === 0) return undefined
  const reply = await context.call(`/keys/${key.id}`, { method: 'PATCH', body: change })
  if (!reply.ok) return fill(problemBox, problemNote(notDone('key', 'changed', reply.problem), reply.problem))
  announce('The key is tightened.')
  return reload()
}

/** Finds what binds in each field: the lowest of the caps that it would lower. */
export function capsNow(caps: readonly Cap[]): CapsNow {
  const found: Partial<Record<CapName, { cents: number; text: string }>> = {}
  for (const cap of caps) {
    const name = fieldOf(cap)
    if (name === undefined || cap.cap >= (found[name]?.cents ?? Infinity)) continue
    const from = cap.inherited ? 'from a key above' : 'from this key'
    found[name] = { cents: cap.cap, text: `${usd(cap.cap)} now, ${from}.` }
  }
  return found
}

const RULES: Readonly<Record<string, CapName>> = {
  maxAuthAmountCents: 'each',
  dailySpendCapCents: 'day',
  dailyWithdrawalCapCents: 'withdrawals',
}

function fieldOf({ rule, operations, window, unit }: Cap): CapName | undefined {
  if (operations === null) return RULES[rule]
  const isMonth = unit === 'cents' && window === 'month'
  return isMonth && MONEY_OPERATIONS.every(id => operations.includes(id)) ? 'month' : undefined
}

function scopeChoices({ scopes }: Key, boxes: readonly HTMLElement[]): Child {
  return el(
    'details',
    {},
    el('summary', {}, `Scopes that it keeps (${scopes.length} now)`),
    el(
      'div',
      { class: 'scope-list' },
      ...scopes.map((scope, place) =>
        el('label', { class: 'choice' }, boxes[place] as HTMLElement, el('span', { class: 'mono' }, scope)),
      ),
    ),
  )
}
