import { sentence } from '../shared/api.ts'
import { ask } from '../shared/dialog.ts'
import { button, el, type Child } from '../shared/dom.ts'
import { money } from '../shared/money.ts'
import { when } from '../shared/time.ts'
import type { FiguresFeed } from './figures-feed.ts'
import type { KeptEvent, KeptEventFigures } from './figures.ts'
import { counted } from './numbers.ts'
import { table, copied } from './panel.ts'

/** Why an event could not be applied. */
const REASONS: Readonly<Record<KeptEvent['reason'], string>> = {
  unknown_object: 'its object is unknown',
  too_early: 'its object cannot take it yet',
  conflict: 'repeats an id with other content',
}

/** Lists the events of providers that wait for the operator, each with a button that calls `handle`. Empty where none waits. */
export function keptEventTable(
  { events, more }: KeptEventFigures,
  handle: (event: KeptEvent) => Promise<void>,
): Child[] {
  if (events.length === 0) return []
  const rows = events.map(event => [
    `${event.provider} ${event.type}`,
    copied('object id', event.objectId),
    amountOf(event),
    event.cardId === null ? 'not named' : copied('card id', event.cardId),
    when(event.at),
    REASONS[event.reason],
    handledButton(event, handle),
  ])
  const head = ['Event', 'Object', 'Amount', 'Card', 'Received', 'Reason', 'Handled']
  return [
    el('h3', {}, `${counted(events.length, 'event')}${more ? ' or more' : ''} of providers not applied`),
    el(
      'p',
      { class: 'small muted' },
      'Ask the provider, and book the money with ',
      el('code', {}, 'npx gatewright ledger credit'),
      ' before you mark one as handled. ',
      el('code', {}, 'npx gatewright provider-events list'),
      ' prints the same.',
    ),
    table('Events of providers that were not applied', head, rows, ['Amount']),
  ]
}

const amountOf = ({ amountCents }: KeptEvent): string =>
  amountCents === null ? 'not named' : `${money(amountCents)} USD`

function handledButton(event: KeptEvent, handle: (event: KeptEvent) => Promise<void>): HTMLElement {
  const made = button('Mark as handled', () => handle(event), 'small')
  made.dataset['key'] = event.id
  return made
}

/** Marks an event as handled, if the operator confirms it. Resolves to what to say; undefined if the operator cancels. */
export async function handleEvent(
  feed: FiguresFeed,
  event: KeptEvent,
): Promise<{ readonly ok: boolean; readonly text: string } | undefined> {
  const reference = el('input', {
    class: 'input',
    id: 'reference',
    maxlength: 120,
    required: true,
    pattern: '[!-~]+',
    autocomplete: 'off',
    'aria-describedby': 'reference-help',
  })
  const isConfirmed = await ask({
    title: 'Mark this event as handled?',
    body: [
      el(
        'p',
        { class: 'small breaks' },
        `${event.type} about `,
        el('code', {}, event.objectId),
        `, amount ${amountOf(event)}. It is never applied: book its money first. This cannot be taken back.`,
      ),
      el(
        'div',
        { class: 'field' },
        el('label', { for: 'reference' }, 'Reference'),
        reference,
        el(
          'p',
          { class: 'help', id: 'reference-help' },
          'Such as the number of a ticket, without spaces. It is kept with the event.',
        ),
      ),
    ],
    confirm: 'Mark as handled',
    danger: true,
  })
  if (!isConfirmed) return undefined
  const reply = await feed.call('provider-events/handled', { event: event.id, reference: reference.value })
  await Promise.all([feed.read('provider-events'), feed.read('attention')])
  if (reply.ok) return { ok: true, text: 'The event is handled. It is never applied.' }
  const isLate = reply.problem.status === 409
  const text = isLate
    ? 'This event waits no more: it was applied, or somebody has handled it.'
    : sentence(reply.problem)
  return { ok: false, text }
}
