import { short } from '../shared/address.ts'
import { sentence, type Reply } from '../shared/api.ts'
import { copyButton } from '../shared/copy.ts'
import { button, el, fill, type Child } from '../shared/dom.ts'
import { announce } from '../shared/live.ts'
import { utc, when } from '../shared/time.ts'
import type { FigureName, FiguresFeed } from './figures-feed.ts'
import type {
  AttentionFigures,
  JobFigures,
  KeptEvent,
  KeptEventFigures,
  LostHistoryFigures,
  LostRun,
  LostRunFigures,
} from './figures.ts'
import { handleEvent, keptEventTable } from './kept-events.ts'
import { age, count, counted } from './numbers.ts'
import { problemNote, redrawn, table } from './panel.ts'
import { askDecision } from './resolve.ts'

/** A call to a provider needs a person when it was not made for so long after its due time: hosts make those that are due every few seconds. */
const LATE_MS = 60_000

/** The name of each kind of row that needs attention, and the command that lists them. */
const ATTENTION: Readonly<Record<string, readonly [noun: string, command: string]>> = {
  authorization: ['card authorization', 'npx gatewright authorizations list'],
  deposit: ['deposit', 'npx gatewright deposits list'],
  withdrawal: ['withdrawal', 'npx gatewright withdrawals list --attention'],
}

/** How many things wait for the operator. */
export function inboxCount({ history, attention, jobs, runs }: InboxFigures): number {
  const reports = Object.values(attention.attention).reduce((sum, rows) => sum + rows, 0)
  return history.losses.length + reports + lateKinds(jobs).length + runs.runs.length
}

/** The figures of everything that waits for the operator. */
export interface InboxFigures {
  readonly history: LostHistoryFigures
  readonly attention: AttentionFigures
  readonly jobs: JobFigures
  readonly runs: LostRunFigures
}

/** The kinds with a call that is overdue. A call that waits for its time, such as the next look for an open deposit, is not. */
const lateKinds = ({ kinds, jobs }: JobFigures): JobFigures['kinds'] =>
  kinds.filter(({ kind }) =>
    jobs.some(job => job.kind === kind && Date.parse(job.dueAt) < Date.now() - LATE_MS),
  )

/** Makes the list of what waits for the operator: lost history, lost writes, reports about money, late calls. One line where nothing waits. */
export function inbox(feed: FiguresFeed): HTMLElement {
  const said = el('div', { class: 'said', tabindex: -1 })
  const nothing = el('p', { class: 'empty' }, 'Reading.')
  const decide = (run: LostRun): Promise<void> => decideRun(feed, said, run)
  const handle = async (event: KeptEvent): Promise<void> => {
    const outcome = await handleEvent(feed, event)
    if (outcome) say(said, outcome)
  }
  const parts: readonly Part[] = [
    part(feed, 'lost-history', lostHistory),
    part(feed, 'lost-runs', (figures: LostRunFigures) => lostRuns(figures, decide)),
    part(feed, 'attention', reports),
    part(feed, 'provider-events', (figures: KeptEventFigures) => keptEventTable(figures, handle)),
    part(feed, 'jobs', calls),
  ]
  const update = (): void => {
    nothing.hidden = parts.some(({ element }) => element.childElementCount > 0)
    if (parts.every(({ isRead }) => isRead()))
      nothing.textContent =
        'Nothing needs attention: no lost history, no lost writes, no reports about money, no late calls to providers.'
  }
  // After those of the parts, which draw.
  for (const name of ['lost-history', 'lost-runs', 'attention', 'provider-events', 'jobs'] as const)
    feed.follow(name, update)
  return el(
    'section',
    { class: 'card panel', id: 'inbox', 'aria-labelledby': 'panel-inbox' },
    el('h2', { id: 'panel-inbox' }, 'Needs attention'),
    said,
    nothing,
    ...parts.map(({ element }) => element),
  )
}

/** One kind of things in the inbox. Its element is empty where nothing waits. */
interface Part {
  readonly element: HTMLElement
  readonly isRead: () => boolean
}

/** Makes a part of the inbox. `show` takes the figures of the endpoint `name`. */
function part(feed: FiguresFeed, name: FigureName, show: (figures: never) => readonly Child[]): Part {
  const element = el('div', { class: 'panel-body' })
  let isRead = false
  const draw = redrawn<never>(element, reply =>
    fill(element, ...(reply.ok ? show(reply.data) : [problemNote(reply.problem)])),
  )
  feed.follow<never>(name, reply => {
    isRead = true
    draw(reply)
  })
  return { element, isRead: () => isRead }
}

function lostHistory({ losses }: LostHistoryFigures): Child[] {
  if (losses.length === 0) return []
  const rows = losses.map(({ hostId, foundAt, keptAt, acknowledgedAt }) => [
    when(foundAt),
    keptAt === null ? 'unknown' : utc(keptAt),
    utc(acknowledgedAt),
    el('code', { class: 'breaks' }, hostId),
  ])
  return [
    el('h3', {}, 'Lost history'),
    el(
      'p',
      { class: 'note warn' },
      'The database has lost writes whose success clients were told. No host is ready until you accept the loss.',
    ),
    about(
      'Make sure that there is one primary, and compare the ledger with the providers. Then run',
      'npx gatewright history accept',
    ),
    table('Lost history', ['Found', 'Lost from', 'To', 'Found by host'], rows),
  ]
}

function lostRuns({ runs, more }: LostRunFigures, decide: (run: LostRun) => Promise<void>): Child[] {
  if (runs.length === 0) return []
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
    decideButton(run, decide),
  ])
  return [
    el('h3', {}, `${counted(runs.length, 'lost write')}${more ? ' or more' : ''}`),
    about(
      'Their process ended before the outcome was stored. Clients get outcome_unknown until somebody decides.',
      'npx gatewright lost-runs list',
    ),
    table('Lost writes', ['Operation id', 'Operation', 'Account', 'Began', 'Lost', 'Decision'], rows),
  ]
}

function decideButton(run: LostRun, decide: (run: LostRun) => Promise<void>): HTMLElement {
  const made = button('Decide', () => decide(run), 'small')
  made.dataset['key'] = run.run
  return made
}

async function decideRun(feed: FiguresFeed, said: HTMLElement, run: LostRun): Promise<void> {
  const decision = await askDecision(run)
  if (!decision) return
  const reply = await feed.call('lost-runs/resolve', { run: run.run, ...decision })
  const done =
    decision.outcome === 'completed'
      ? 'Retries of this request now return the completed response.'
      : 'The key is free. The next retry runs the write again.'
  const text = outcomeText(reply, done)
  say(said, { ok: reply.ok, text })
  await feed.read('lost-runs')
}

/** Says the outcome of an operator's action, and moves the focus there: the button of the row disappears with it. */
function say(said: HTMLElement, { ok, text }: { readonly ok: boolean; readonly text: string }): void {
  fill(said, el('p', { class: `note ${ok ? 'ok' : 'warn'}` }, text))
  announce(text)
  said.focus()
}

function outcomeText(reply: Reply<unknown>, done: string): string {
  if (reply.ok) return done
  return reply.problem.status === 409
    ? 'Somebody has decided about this write meanwhile. Nothing was changed.'
    : sentence(reply.problem)
}

function reports({ attention }: AttentionFigures): Child[] {
  // Events of providers have a table of their own.
  const open = Object.entries(attention).filter(([kind, rows]) => kind !== 'provider_event' && rows > 0)
  if (open.length === 0) return []
  const items = open.map(([kind, rows]) => {
    const [noun, command] = ATTENTION[kind] ?? [kind, 'npx gatewright help']
    return el('li', {}, el('strong', {}, counted(rows, noun)), ' with a report: ', el('code', {}, command))
  })
  return [
    el('h3', {}, 'Reports about money'),
    el('p', { class: 'small muted' }, 'Money that a provider reported and that could not be moved.'),
    el('ul', { class: 'reports' }, ...items),
  ]
}

function calls(figures: JobFigures): Child[] {
  const { kinds, jobs, more } = figures
  if (kinds.length === 0) return []
  const late = lateKinds(figures).length > 0
  const rows = jobs.map(job => [
    job.kind,
    short(job.subjectId),
    count(job.attempts),
    when(job.dueAt),
    when(job.createdAt),
  ])
  const words = kinds.map(
    ({ kind, jobs: waiting, ageSeconds }) => `${kind}: ${count(waiting)} waiting, oldest ${age(ageSeconds)}`,
  )
  return [
    el(
      'h3',
      {},
      'Provider calls that wait',
      ' ',
      el('span', { class: late ? 'badge warn' : 'badge' }, late ? 'late' : 'open'),
    ),
    el('p', { class: 'small' }, `${words.join('; ')}.`),
    el(
      'details',
      {},
      el('summary', { 'data-key': 'calls' }, `Show ${more ? 'the first of them' : 'them'}`),
      table('Waiting calls, those due first', ['Kind', 'Subject', 'Tries', 'Due', 'Created'], rows, [
        'Tries',
      ]),
      about('One is made at once by', 'npx gatewright jobs retry KIND SUBJECT'),
    ),
  ]
}

const about = (text: string, command: string): HTMLElement =>
  el('p', { class: 'small muted' }, `${text} `, el('code', {}, command))
