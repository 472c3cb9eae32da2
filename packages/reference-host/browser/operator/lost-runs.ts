import { short } from '../shared/address.ts'
import { sentence } from '../shared/api.ts'
import { copyButton } from '../shared/copy.ts'
import { button, el, fill } from '../shared/dom.ts'
import { announce } from '../shared/live.ts'
import { when } from '../shared/time.ts'
import type { LostRun, LostRunFigures } from './figures.ts'
import { empty, panel, table, type CallOperator, type Panel } from './panel.ts'
import { askDecision } from './resolve.ts'

/** Makes the panel of the writes whose outcome is unknown. Each has a button to decide about it, the only write of this page. */
export function lostRunPanel(callOperator: CallOperator): Panel {
  const said = el('div', { class: 'said' })
  const made: Panel = panel<LostRunFigures>(callOperator, {
    title: 'Lost runs',
    about:
      'Writes with an idempotency key whose process ended before their outcome was stored. Clients get outcome_unknown until somebody decides. As gatewright lost-runs list.',
    path: 'lost-runs',
    wide: true,
    show({ runs, more }, body) {
      const rows = runs.map(run => [
        el(
          'span',
          { class: 'copied' },
          short(run.operationId),
          copyButton('operation id', () => run.operationId),
        ),
        run.operation,
        run.account,
        when(run.beganAt),
        run.leaseEndedAt === null ? 'reported by its handler' : when(run.leaseEndedAt),
        button('Decide', () => decide(run), 'small'),
      ])
      const head = ['Operation id', 'Operation', 'Account', 'Began', 'Lost', 'Decision']
      fill(
        body,
        said,
        runs.length === 0 ? empty('No run is lost.') : table('Lost runs', head, rows),
        more &&
          el(
            'p',
            { class: 'small muted' },
            'There are more. ',
            el('code', {}, 'gatewright lost-runs list'),
            ' lists them.',
          ),
      )
    },
  })
  const decide = async (run: LostRun): Promise<void> => {
    const decision = await askDecision(run)
    if (!decision) return
    const reply = await callOperator('lost-runs/resolve', { run: run.run, ...decision })
    const done =
      decision.outcome === 'completed'
        ? 'Retries of this request now return the completed response.'
        : 'The key is free. The next retry runs the write again.'
    const text = reply.ok
      ? done
      : reply.problem.status === 409
        ? 'Somebody has decided about this run meanwhile. Nothing was changed.'
        : sentence(reply.problem)
    fill(said, el('p', { class: `note ${reply.ok ? 'ok' : 'warn'}` }, text))
    announce(text)
    await made.refresh()
  }
  return made
}
