import type { Reply } from '../shared/api.ts'
import { el, fill, type Child } from '../shared/dom.ts'
import { when } from '../shared/time.ts'
import { reasonWords } from '../shared/request-words.ts'
import type { FigureName, FiguresFeed } from './figures-feed.ts'
import type { DecisionFigures, HostState, LedgerCheck, RefusalFigures } from './figures.ts'
import { inboxCount, type InboxFigures } from './inbox.ts'
import { count, counted, percent } from './numbers.ts'

/** How one of the four questions is answered. `tone` is also in the words: it is a colour only. */
interface State {
  readonly tone: 'ok' | 'warn' | 'bad' | 'none'
  readonly words: string
  readonly more: readonly Child[]
}

/** The guard queries the store at every request if the feed is older than a second. */
const FEED_BOUND_SECONDS = 1

const READING: State = { tone: 'none', words: '–', more: ['Reading.'] }
const unknown = (): State => ({ tone: 'warn', words: 'Unknown', more: ['The figures cannot be read.'] })

/** Makes the answers to four questions: is the host up, is the money right, who is refused, what waits. */
export function strip(feed: FiguresFeed): HTMLElement {
  const place = (name: string, to: string): { readonly item: HTMLElement; show(state: State): void } => {
    const words = el('a', { href: `#${to}` })
    const more = el('span', { class: 'small muted' })
    const item = el('li', { class: 'strip-item' }, el('span', { class: 'small' }, name), words, more)
    const show = (state: State): void => {
      item.dataset['tone'] = state.tone
      words.textContent = state.words
      fill(more, ...state.more)
    }
    show(READING)
    return { item, show }
  }
  const host = place('Host', 'stores')
  const money = place('Money', 'ledger-check')
  const refused = place('Refused', 'requests')
  const waits = place('Needs attention', 'inbox')
  feed.follow<HostState>('state', reply => host.show(reply.ok ? hostState(reply.data) : unknown()))
  feed.follow<LedgerCheck>('ledger-check', reply => money.show(reply.ok ? moneyState(reply.data) : unknown()))
  let decisions: DecisionFigures | undefined
  let refusals: RefusalFigures | undefined
  const showRefused = (): void => decisions && refused.show(refusedState(decisions, refusals))
  feed.follow<DecisionFigures>('decisions', reply => {
    decisions = reply.ok ? reply.data : undefined
    if (reply.ok) showRefused()
    else refused.show(unknown())
  })
  feed.follow<RefusalFigures>('refusals', reply => {
    refusals = reply.ok ? reply.data : undefined
    showRefused()
  })
  const inbox: Partial<{ [K in keyof InboxFigures]: Reply<InboxFigures[K]> }> = {}
  const followInbox = (name: FigureName, member: keyof InboxFigures): void =>
    feed.follow<InboxFigures[keyof InboxFigures]>(name, reply => {
      Object.assign(inbox, { [member]: reply })
      const { history, attention, jobs, runs } = inbox
      if (!history || !attention || !jobs || !runs) return
      const isRead = history.ok && attention.ok && jobs.ok && runs.ok
      waits.show(
        isRead
          ? waitsState({ history: history.data, attention: attention.data, jobs: jobs.data, runs: runs.data })
          : unknown(),
      )
    })
  followInbox('lost-history', 'history')
  followInbox('attention', 'attention')
  followInbox('jobs', 'jobs')
  followInbox('lost-runs', 'runs')
  const items = [host, money, refused, waits].map(({ item }) => item)
  return el('ul', { class: 'strip', 'aria-label': 'Summary' }, ...items)
}

function hostState({ ready, dependencies, feedAgeSeconds }: HostState): State {
  const down = Object.keys(dependencies).filter(name => dependencies[name] === 'down')
  if (!ready) return { tone: 'bad', words: `Not ready: ${down.join(', ')}`, more: ['The log says why.'] }
  if (down.length > 0)
    return { tone: 'warn', words: `Ready without ${down.join(', ')}`, more: ['The log says why.'] }
  if (feedAgeSeconds === null)
    return { tone: 'warn', words: 'Starting', more: ['Revocations have not been read yet.'] }
  if (feedAgeSeconds > FEED_BOUND_SECONDS) {
    const more = `Revocations are ${feedAgeSeconds.toFixed(1)} s old: each request asks the store.`
    return { tone: 'warn', words: 'Slower', more: [more] }
  }
  const names = Object.keys(dependencies)
  return { tone: 'ok', words: 'All systems normal', more: [`Checked: ${names.join(', ')}.`] }
}

function moneyState(check: LedgerCheck): State {
  if (check.state === 'never')
    return { tone: 'none', words: 'Not checked', more: ['Not since this host started.'] }
  if (check.state === 'running')
    return { tone: 'none', words: 'Checking', more: ['It began ', when(check.startedAt), '.'] }
  const checked: readonly Child[] = ['Checked ', when(check.startedAt), '.']
  if (check.state === 'failed') return { tone: 'warn', words: 'Not known', more: ['The check did not end.'] }
  return check.problems.length === 0
    ? { tone: 'ok', words: 'Balanced', more: checked }
    : { tone: 'bad', words: counted(check.problems.length, 'difference'), more: checked }
}

function refusedState({ hour }: DecisionFigures, refusals: RefusalFigures | undefined): State {
  const [most] = refusals?.refusals ?? []
  const share = hour.refusedShare ?? 0
  const words = `${percent(share)} in the last hour`
  const more = most
    ? [
        `Most in 24 hours: ${reasonWords({ rule: most.rule, error: most.code, details: null })}, ${count(most.count)}.`,
      ]
    : [share === 0 ? 'Nobody is refused.' : 'None of them is recorded.']
  return { tone: 'none', words, more }
}

function waitsState(figures: InboxFigures): State {
  const waiting = inboxCount(figures)
  if (waiting === 0)
    return { tone: 'ok', words: 'Nothing', more: ['No lost history, lost writes, reports or late calls.'] }
  return { tone: 'bad', words: counted(waiting, 'thing'), more: ['Listed below.'] }
}
