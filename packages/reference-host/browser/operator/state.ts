import { el, fill, type Child } from '../shared/dom.ts'
import { sentence } from '../shared/api.ts'
import type { JobFigures, LostRunFigures } from './figures.ts'
import { age, count } from './numbers.ts'
import { panel, type CallOperator, type Panel } from './panel.ts'

interface StateFigures {
  readonly ageSeconds: number | null
}

/** The guard queries the store at every request if the feed is older than a second. */
const FEED_BOUND_SECONDS = 1

/** Makes the panel about what the operator must look at: feed, attention, jobs, lost runs. */
export function statePanel(callOperator: CallOperator): Panel {
  return panel<StateFigures>(callOperator, {
    title: 'Right now',
    about: 'What may need you. Each has its own part below or a command.',
    path: 'feed',
    wide: true,
    show({ ageSeconds }, body) {
      const list = el('ul', { class: 'states' }, feedState(ageSeconds))
      fill(body, list)
      void others(callOperator).then(states => list.append(...states))
    },
  })
}

function feedState(ageSeconds: number | null): HTMLElement {
  if (ageSeconds === null) return state('warn', 'Revocation feed', 'not read yet')
  const late = ageSeconds > FEED_BOUND_SECONDS
  const text = `${ageSeconds.toFixed(1)} s old${late ? ': every request asks the store instead' : ''}`
  return state(late ? 'bad' : 'ok', 'Revocation feed', text)
}

/** The plural of each kind of row that needs attention, and where the operator learns more about them. */
const ATTENTION: Readonly<Record<string, { readonly rows: string; readonly see: string }>> = {
  authorization: { rows: 'Card authorizations', see: 'gatewright authorizations list' },
  deposit: { rows: 'Deposits', see: 'gatewright deposits list' },
  withdrawal: { rows: 'Withdrawals', see: 'gatewright withdrawals list --attention' },
}

async function others(callOperator: CallOperator): Promise<HTMLElement[]> {
  const [attention, jobs, runs] = await Promise.all([
    callOperator<{ readonly attention: Readonly<Record<string, number>> }>('attention'),
    callOperator<JobFigures>('jobs'),
    callOperator<LostRunFigures>('lost-runs'),
  ])
  const attentionStates = attention.ok
    ? Object.entries(attention.data.attention).map(([kind, rows]) =>
        state(
          rows === 0 ? 'ok' : 'bad',
          `${ATTENTION[kind]?.rows ?? kind} with attention`,
          rows === 0 ? 'none' : `${count(rows)}: see ${ATTENTION[kind]?.see ?? 'the documentation'}`,
        ),
      )
    : [state('warn', 'Attention', sentence(attention.problem))]
  return [
    ...attentionStates,
    jobs.ok ? jobState(jobs.data) : state('warn', 'Provider calls', sentence(jobs.problem)),
    runs.ok
      ? state(
          runs.data.runs.length === 0 ? 'ok' : 'bad',
          'Lost runs',
          runs.data.runs.length === 0
            ? 'none'
            : `${runs.data.more ? 'more than ' : ''}${count(runs.data.runs.length)} to decide`,
        )
      : state('warn', 'Lost runs', sentence(runs.problem)),
  ]
}

function jobState({ kinds }: JobFigures): HTMLElement {
  const waiting = kinds.reduce((sum, { jobs }) => sum + jobs, 0)
  if (waiting === 0) return state('ok', 'Provider calls', 'none wait')
  const oldest = Math.max(...kinds.map(({ ageSeconds }) => ageSeconds))
  return state(
    oldest > 300 ? 'warn' : 'ok',
    'Provider calls',
    `${count(waiting)} wait, the oldest for ${age(oldest)}`,
  )
}

const WORDS = { ok: 'fine', warn: 'look', bad: 'act' } as const

function state(kind: keyof typeof WORDS, name: string, text: Child): HTMLElement {
  return el(
    'li',
    { class: 'state' },
    el('span', { class: `badge ${kind}` }, WORDS[kind]),
    el('span', {}, el('strong', {}, name), ' ', text),
  )
}
