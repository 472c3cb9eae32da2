import { button, el, fill, type Child } from '../shared/dom.ts'
import { utc, when } from '../shared/time.ts'
import type { FiguresFeed } from './figures-feed.ts'
import type { KeptRequest, RequestFigures } from './figures.ts'
import { duration } from './numbers.ts'
import { requestTitle, resultTone, resultWords } from '../shared/request-words.ts'
import { accountButton, type Only } from './accounts.ts'
import { copiedText, empty, keyOf, panel, table } from './panel.ts'

const OUTCOMES = [
  ['refused', 'Refused'],
  ['limited', 'Rate limited'],
  ['failed', 'Failed'],
  ['allowed', 'Allowed'],
  ['', 'All'],
] as const

/** The panel of the latest requests. */
export interface RequestPanel {
  readonly element: HTMLElement
  /** Lists the requests of one kind of refusal, and moves the focus there. */
  showOnly(what: Only): void
}

/** Makes the panel of the latest requests of one outcome. Each opens with what was decided about it, and leads to its account. */
export function requestPanel(feed: FiguresFeed, openAccount: OpenAccount): RequestPanel {
  const outcome = el('select', { id: 'outcome', class: 'input' })
  for (const [value, label] of OUTCOMES) outcome.append(el('option', { value }, label))
  const chosen = el('p', { class: 'copied', hidden: true })
  let only: Only | undefined
  const read = (): Promise<void> => {
    // A kind of refusal has its outcome: rate limits are refusals, too.
    const filter = only ? only.query : outcome.value === '' ? {} : { outcome: outcome.value }
    return feed.setRequests(new URLSearchParams(filter))
  }
  const choose = (next: Only | undefined): Promise<void> => {
    only = next
    outcome.disabled = next !== undefined
    chosen.hidden = next === undefined
    fill(
      chosen,
      next && `Only ${next.words}`,
      next && button('Show all refusals', () => choose(undefined), 'small'),
    )
    return read()
  }
  outcome.addEventListener('change', () => void read())
  void feed.setRequests(new URLSearchParams({ outcome: outcome.value }))
  const element = panel<RequestFigures>(feed, {
    title: 'Latest requests',
    about:
      'Recorded requests of all hosts, newest first (REQUEST_LOG). The same as npx gatewright requests list.',
    figures: 'requests',
    controls: [
      el(
        'div',
        { class: 'filters' },
        el('div', { class: 'field' }, el('label', { for: 'outcome' }, 'Outcome'), outcome),
      ),
      chosen,
    ],
    show({ requests }, body) {
      if (requests.length === 0) return fill(body, empty('No recorded request matches.'))
      const rows = requests.map(request => [
        when(request.createdAt),
        openButton(request, openAccount),
        el('span', { title: request.operation }, requestTitle(request)),
        accountButton(request, what => choose(what)),
        keyOf(request),
      ])
      fill(body, table('Latest requests', ['When', 'Decision', 'What', 'Account', 'Key'], rows))
      return undefined
    },
  })
  return {
    element,
    showOnly(what) {
      void choose(what)
      element.scrollIntoView()
      chosen.querySelector('button')?.focus()
    },
  }
}

/** Shows the account with an id. */
export type OpenAccount = (accountId: string) => unknown

/** Makes the button that opens a request. */
export function openButton(request: KeptRequest, openAccount?: OpenAccount): HTMLElement {
  const made = button(resultWords(request), () => showRequest(request, openAccount), 'link')
  made.dataset['key'] = request.id
  return made
}

/** Shows what was decided about a request, and why, in a dialog. With `openAccount` it leads to the account. */
function showRequest(request: KeptRequest, openAccount?: OpenAccount): void {
  const dialog = el('dialog', { 'aria-labelledby': 'request-title' })
  const close = button('Close', () => dialog.close())
  const { accountId } = request
  const open =
    openAccount !== undefined &&
    accountId !== null &&
    button('Open account', () => {
      dialog.close()
      return openAccount(accountId)
    })
  const facts: readonly (readonly [name: string, value: Child])[] = [
    ['Request id', copiedText('request id', request.id)],
    ['When', utc(request.createdAt)],
    ['Took', duration(request.durationMs)],
    ['Operation', el('code', { class: 'breaks' }, `${request.method} ${request.operation}`)],
    ['Status', String(request.status)],
    ['Error', textOf(request.error)],
    ['Rule', textOf(request.rule)],
    ['Cause', textOf(request.reason)],
    ['Field', textOf(request.field)],
    [
      'Account',
      request.accountId === null ? 'none: no valid credential' : copiedText('account', request.accountId),
    ],
    ['Wallet', request.wallet === null ? undefined : copiedText('wallet', request.wallet)],
    ['Credential', textOf(request.credential)],
    ['Key', request.keyId === null ? undefined : copiedText('key id', request.keyId)],
    ['Name of the key', textOf(request.keyLabel)],
    ['Policy of key', textOf(request.policyKeyId)],
    ['Session', textOf(request.sessionId)],
    ['Details', detailsOf(request.details)],
    ['By tool', request.byTool && 'yes: a call by POST /mcp'],
    ['Replayed', request.replayed && 'yes: the response of an earlier request'],
  ]
  fill(
    dialog,
    el(
      'div',
      { class: 'panel-body' },
      el('h2', { id: 'request-title' }, requestTitle(request)),
      el('p', {}, el('span', { class: `badge ${resultTone(request.status)}` }, resultWords(request))),
      request.message !== null && el('p', {}, el('strong', {}, request.message)),
      el(
        'dl',
        { class: 'facts' },
        ...facts.flatMap(([name, value]) =>
          value === undefined || value === false ? [] : [el('dt', {}, name), el('dd', {}, value)],
        ),
      ),
      el('div', { class: 'buttons' }, close, open),
    ),
  )
  const before = document.activeElement
  dialog.addEventListener('close', () => {
    dialog.remove()
    if (before instanceof HTMLElement) before.focus()
  })
  document.body.append(dialog)
  dialog.showModal()
}

const textOf = (value: string | null): Child => value ?? undefined

function detailsOf(details: unknown): Child {
  return details === null ? undefined : el('pre', { class: 'details' }, JSON.stringify(details, null, 1))
}
