import { el, fill } from '../shared/dom.ts'
import { utc } from '../shared/time.ts'
import type { FiguresFeed } from './figures-feed.ts'
import { OUTCOMES, type DecisionFigures } from './figures.ts'
import { count } from './numbers.ts'
import { panel, table } from './panel.ts'
import { plot } from './plot.ts'
import { slotTimes, valuesAt } from './times.ts'

/** Makes the panel of requests by outcome over the last 24 hours. */
export function decisionPanel(feed: FiguresFeed): HTMLElement {
  return panel<DecisionFigures>(feed, {
    title: 'Requests in the last 24 hours',
    about:
      'By outcome, in slots of 5 minutes: allowed (2xx and 3xx), refused (4xx), limited (429), failed (5xx). In /metrics: gatewright_requests_total.',
    figures: 'decisions',
    show(figures, body) {
      const { totals, slots } = figures
      const times = slotTimes(figures.since, figures.slotSeconds, figures.windowSeconds)
      const minutes = figures.slotSeconds / 60
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
        plot({ description, times, lines, unit, show: count, counts: true }),
        el(
          'details',
          {},
          el('summary', { 'data-key': 'decisions' }, 'The same as a table'),
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
