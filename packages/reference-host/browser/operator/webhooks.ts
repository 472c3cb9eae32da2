import { sentence } from '../shared/api.ts'
import { button, el, fill, type Child } from '../shared/dom.ts'
import { announce } from '../shared/live.ts'
import { when } from '../shared/time.ts'
import type { FiguresFeed } from './figures-feed.ts'
import type { WebhookEndpoint, WebhookFigures, WebhookRetry } from './figures.ts'
import { count } from './numbers.ts'
import { panel, table, copied } from './panel.ts'

const TONES = { working: 'ok', failing: 'warn', disabled: 'bad' } as const
const WHY = {
  operator: 'by an operator',
  gone: 'responded with 410',
  failing: 'failed for 3 days',
} as const

/** Makes the panel of where events are sent, and of those that were not accepted. */
export function webhookPanel(feed: FiguresFeed): HTMLElement {
  const said = el('div', { class: 'said', tabindex: -1 })
  const replay = async ({ eventId, endpointId }: WebhookRetry): Promise<void> => {
    const reply = await feed.call('webhooks/replay', { eventId, endpointId })
    const text = reply.ok
      ? 'The event is sent at the next turn of its endpoint: at once, or within 5 minutes while the endpoint fails.'
      : sentence(reply.problem)
    fill(said, el('p', { class: `note ${reply.ok ? 'ok' : 'warn'}` }, text))
    announce(text)
    // The button of the row can disappear with it.
    said.focus()
    await feed.read('webhooks')
  }
  return panel<WebhookFigures>(feed, {
    title: 'Webhooks',
    about:
      'Where events are sent, and what came of the last attempt. npx gatewright webhooks list and retries print the same.',
    figures: 'webhooks',
    controls: [said],
    isEmpty: ({ endpoints, retries }) => endpoints.length === 0 && retries.length === 0,
    show({ endpoints, total, retries, more }, body) {
      fill(
        body,
        endpoints.length > 0 && endpointTable(endpoints),
        total > endpoints.length &&
          el('p', { class: 'small muted' }, `The first ${endpoints.length} of ${count(total)}.`),
        ...(retries.length === 0
          ? [el('p', { class: 'small muted' }, 'Every event that was sent has been accepted.')]
          : [
              el('h3', {}, `Not accepted yet${more ? ', those due first' : ''}`),
              retryTable(retries, endpoints, replay),
            ]),
      )
    },
  })
}

function endpointTable(endpoints: readonly WebhookEndpoint[]): HTMLElement {
  const rows = endpoints.map(each => [
    el('span', { class: 'breaks' }, each.url),
    each.recipientId === 'operator' ? 'operator' : copied('partner id', each.recipientId),
    stateOf(each),
    each.lastResult ?? 'none yet',
    each.lastAt === null ? '-' : when(each.lastAt),
  ])
  return table('Endpoints', ['URL', 'Recipient', 'State', 'Last result', 'At'], rows)
}

function stateOf({ state, disabledFor, failingSince }: WebhookEndpoint): Child {
  return el(
    'span',
    {},
    el('span', { class: `badge ${TONES[state]}` }, state),
    disabledFor !== null && ` ${WHY[disabledFor]}`,
    disabledFor === null && failingSince !== null && ' since ',
    disabledFor === null && failingSince !== null && when(failingSince),
  )
}

function retryTable(
  retries: readonly WebhookRetry[],
  endpoints: readonly WebhookEndpoint[],
  replay: (retry: WebhookRetry) => Promise<void>,
): HTMLElement {
  const rows = retries.map(retry => {
    const endpoint = endpoints.find(({ endpointId }) => endpointId === retry.endpointId)
    return [
      copied('event id', retry.eventId),
      endpoint ? el('span', { class: 'breaks' }, endpoint.url) : copied('endpoint id', retry.endpointId),
      count(retry.attempts),
      retry.lastResult ?? 'none yet',
      nextOf(retry, endpoint),
      replayButton(retry, replay),
    ]
  })
  const head = ['Event', 'Endpoint', 'Attempts', 'Last result', 'Next attempt', 'Replay']
  return table('Events that were not accepted', head, rows, ['Attempts'])
}

function nextOf({ dueAt }: WebhookRetry, endpoint: WebhookEndpoint | undefined): Child {
  if (endpoint?.state === 'disabled') return 'when it is enabled'
  return dueAt === null ? '-' : when(dueAt)
}

function replayButton(retry: WebhookRetry, replay: (retry: WebhookRetry) => Promise<void>): HTMLElement {
  const made = button('Send again', () => replay(retry), 'small')
  made.dataset['key'] = `${retry.endpointId} ${retry.eventId}`
  return made
}
