import { copyButton } from '../../../shared/copy.ts'
import { el, type Child } from '../../../shared/dom.ts'
import { money } from '../../../shared/money.ts'
import { utc, when } from '../../../shared/time.ts'

/** A move of a time line. */
interface Move {
  readonly to: string | null
  readonly cause: string
  readonly at: string
  readonly amountCents?: number | null
  readonly detail?: string | null
}

/** Makes a list of names and values. Those without a value are left out. */
export function factList(rows: readonly (readonly [name: string, value: Child | null])[]): HTMLElement {
  const given = rows.filter(([, value]) => value !== null && value !== undefined && value !== false)
  return el(
    'dl',
    { class: 'facts' },
    ...given.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value as Child)]),
  )
}

/** Makes an id with a button that copies it. */
export function copiedId(what: string, id: string | null): Child | null {
  if (id === null) return null
  return el(
    'span',
    { class: 'copied' },
    el('code', { class: 'wrap' }, id),
    copyButton(what, () => id),
  )
}

/** Writes a code of the API as words: `card_locked` as "Card locked". */
export const words = (text: string): string => {
  const spaced = text.replaceAll('_', ' ')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

/** Makes a time line, oldest first. */
export function timeLine(moves: readonly Move[]): HTMLElement {
  return el(
    'ol',
    { class: 'time-line' },
    ...moves.map(({ to, cause, at, amountCents, detail }) =>
      el(
        'li',
        {},
        el(
          'p',
          {},
          el('strong', {}, words(to ?? cause)),
          amountCents !== null && amountCents !== undefined && ` · ${money(amountCents)} USD`,
          to !== null && to !== cause && el('span', { class: 'muted' }, ` · ${words(cause)}`),
        ),
        detail !== null &&
          detail !== undefined &&
          el('p', { class: 'small' }, el('code', { class: 'wrap' }, detail)),
        el('p', { class: 'muted small' }, when(at), ` · ${utc(at)}`),
      ),
    ),
  )
}
