import { el, type Child } from '../../shared/dom.ts'
import { readHost } from '../../shared/host.ts'
import { higherNote } from '../key/limit-fields.ts'
import { moneyField } from '../key/money-field.ts'
import { keySentence, mayPay, paysWithoutLimit, usd, type Policy } from '../key/sentence.ts'

/** The rights of the key that a command line gets, as the host returns them. `policy` is null where it requested none. */
export interface RequestedKey {
  readonly label: string | null
  readonly scopes: readonly string[]
  readonly policy: Policy | null
}

/** The most that the person lets the key spend, in cents. */
export type LowerTo = Pick<Policy, 'maxAuthAmountCents' | 'dailySpendCapCents'>

/** What the page shows of the key, with fields that lower it. */
export interface RequestedKeyView {
  readonly element: HTMLElement
  /** Reads what the person lowers; `wrong` if a field is no amount. That field is then marked and focused. */
  read(): LowerTo | 'wrong'
}

const AMOUNTS = [
  { name: 'maxAuthAmountCents', id: 'lower-each', label: 'At once at most' },
  { name: 'dailySpendCapCents', id: 'lower-day', label: 'A day at most' },
] as const

/** Says what the key of a command line may do, and lets the person lower how much it may spend. */
export function requestedKey({ label, scopes, policy }: RequestedKey): RequestedKeyView {
  const requested = policy ? [policy] : []
  const isUnlimited = paysWithoutLimit({ scopes, policies: requested })
  const fields = AMOUNTS.map(({ name, id, label }) => {
    const now = policy?.[name]
    const help = now === undefined ? 'It requested no limit.' : `It requested ${usd(now)}.`
    return { name, now, ...moneyField({ name: id, label, help, placeholder: 'No change' }) }
  })
  const lowerTo = (): LowerTo =>
    Object.fromEntries(
      fields.flatMap(({ name, cents }) => {
        const amount = cents()
        return amount === undefined ? [] : [[name, amount] as const]
      }),
    )
  const sentence = el('p', { class: 'key-sentence', role: 'status' })
  const say = (): void => {
    for (const { note, now, cents } of fields) note(higherNote(cents(), now))
    sentence.textContent = keySentence({ scopes, policies: [...requested, lowerTo()] }, readHost().scopes)
  }
  for (const { input } of fields) input.addEventListener('input', say)
  say()
  const lower = el(
    'details',
    { open: isUnlimited },
    el('summary', {}, 'Lower what it may spend'),
    el('div', { class: 'caps' }, ...fields.map(({ element }) => element)),
  )
  return {
    element: el(
      'section',
      { class: isUnlimited ? 'note bad' : 'note', 'aria-label': 'The key that it gets' },
      el('p', {}, el('strong', {}, 'It gets one key', ...nameOf(label))),
      sentence,
      isUnlimited && el('p', {}, 'It requested no limit. Whoever has this key can spend all that you have.'),
      mayPay({ scopes, policies: requested }) && lower,
    ),
    read() {
      const wrong = fields.filter(field => !field.check())
      if (wrong.length === 0) return lowerTo()
      lower.open = true
      wrong[0]?.input.focus()
      return 'wrong'
    },
  }
}

/** The program chose the name, so it is isolated: its characters cannot reorder the text beside it. */
const nameOf = (label: string | null): readonly Child[] =>
  label === null ? ['.'] : [', named ', el('bdi', {}, `“${label}”`), '.']
