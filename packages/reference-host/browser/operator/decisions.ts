import { el, fill } from '../shared/dom.ts'
import { utc } from '../shared/time.ts'
import { OUTCOMES, type DecisionFigures, type Outcome } from './figures.ts'
import { count } from './numbers.ts'
import { panel, table, type CallOperator, type Panel } from './panel.ts'
import { plot } from './plot.ts'
import { slotTimes, valuesAt } from './times.ts'

const MEANING: Readonly<Record<Outcome, string>> = {
  allowed: 'status 2xx or 3xx',
  refused: 'status 4xx',
  limited: 'status 429',
  failed: 'status 5xx',
}

/** Makes the panel of requests by outcome over the last 24 hours. */
export function decisionPanel(callOperator: CallOperator): Panel {
  return panel<DecisionFigures>(callOperator, {
    title: 'Decisions',
    about:
      'Requests of the last 24 hours by outcome, in slots of 5 minutes. /metrics counts the same as gatewright_requests_total.',
    path: 'decisions',
    wide: true,
    show(figures, body) {
      const { totals, slots } = figures
      const times = slotTimes(figures.since, figures.slotSeconds, figures.windowSeconds)
      const minutes = figures.slotSeconds / 60
      const tiles = OUTCOMES.map(outcome =>
        el(
          'div',
          { class: 'tile', 'data-outcome': outcome },
          el('span', { class: 'tile-name' }, outcome),
          el('strong', { class: 'tile-value' }, count(totals[outcome])),
          el('span', { class: 'small muted' }, MEANING[outcome]),
        ),
      )
      const description = `Requests in each ${minutes} minutes by outcome. Total: ${OUTCOMES.map(outcome => `${totals[outcome]} ${outcome}`).join(', ')}.`
      const lines = OUTCOMES.map(outcome => ({
        label: outcome,
        colour: `--${outcome}`,
        values: valuesAt(times, slots, slot => slot[outcome], 0),
      }))
      const unit = `requests in ${minutes} min`
      const busy = slots.filter(slot => OUTCOMES.some(outcome => slot[outcome] > 0)).toReversed()
      fill(
        body,
        el('div', { class: 'tiles' }, ...tiles),
        plot({ description, times, lines, unit, show: count, counts: true }),
        el(
          'details',
          {},
          el('summary', {}, 'The same as a table'),
          table(
            'Requests by outcome and slot',
            ['From', ...OUTCOMES],
            busy.map(slot => [utc(slot.at), ...OUTCOMES.map(outcome => count(slot[outcome]))]),
            OUTCOMES,
          ),
        ),
      )
    },
  })
}
