import { short } from '../shared/address.ts'
import { el, fill } from '../shared/dom.ts'
import { when } from '../shared/time.ts'
import type { JobFigures } from './figures.ts'
import { age, count } from './numbers.ts'
import { bars } from './bars.ts'
import { empty, panel, table, type CallOperator, type Panel } from './panel.ts'

/** Makes the panel of waiting calls to providers, by kind and age. */
export function jobPanel(callOperator: CallOperator): Panel {
  return panel<JobFigures>(callOperator, {
    title: 'Provider calls that wait',
    about: 'By kind, with the age of the oldest. As gatewright jobs list, and gatewright_jobs in /metrics.',
    path: 'jobs',
    show({ kinds, jobs, more }, body) {
      if (kinds.length === 0)
        return fill(body, empty('No call waits. Calls that fail are repeated after 5 s to 10 min.'))
      fill(
        body,
        bars(
          'Age of the oldest call of each kind',
          kinds.map(({ kind, jobs: waiting, ageSeconds }) => ({
            name: kind,
            value: ageSeconds,
            colour: '--accent',
            text: `${count(waiting)} waiting, oldest ${age(ageSeconds)}`,
          })),
        ),
        table(
          'Waiting calls, those due first',
          ['Kind', 'Subject', 'Tries', 'Due', 'Created'],
          jobs.map(job => [
            job.kind,
            short(job.subjectId),
            count(job.attempts),
            when(job.dueAt),
            when(job.createdAt),
          ]),
          ['Tries'],
        ),
        more &&
          el(
            'p',
            { class: 'small muted' },
            'More wait. ',
            el('code', {}, 'gatewright jobs list'),
            ' lists them.',
          ),
        el(
          'p',
          { class: 'small muted' },
          'Make one due at once: ',
          el('code', {}, 'gatewright jobs retry KIND SUBJECT'),
        ),
      )
      return undefined
    },
  })
}
