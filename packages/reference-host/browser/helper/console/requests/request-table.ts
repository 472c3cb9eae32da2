import { keyName } from '../all-keys.ts'
import { el, fill, type Child } from '../../../shared/dom.ts'
import { money } from '../../../shared/money.ts'
import {
  operationTitle,
  reasonWords,
  requestedCents,
  requestTitle,
  resultTone,
  resultWords,
} from '../../../shared/request-words.ts'
import { exactly } from '../../../shared/time.ts'
import { addressOf } from '../route.ts'
import type { Key, KeptRequest } from '../wire.ts'
import { groupRefusals, type RequestGroup } from './request-groups.ts'

const COLUMNS = ['Time', 'What', 'Amount', 'Key', 'Result']

/** A table of requests. */
export interface RequestTable {
  readonly element: HTMLElement
  /** Shows these requests, newest first. Groups that were open stay so. */
  show(requests: readonly KeptRequest[]): void
}

/** Makes a table of requests. Equal refusals have one row, which opens to show each of them. */
export function requestTable(keys: readonly Key[]): RequestTable {
  const open = new Set<string>()
  const rows = el('tbody')
  const heads = COLUMNS.map(name =>
    el('th', { scope: 'col', class: name === 'Amount' ? 'number' : undefined }, name),
  )
  const element = el('table', { class: 'request-table' }, el('thead', {}, el('tr', {}, ...heads)), rows)
  const nameOf = ({ keyId }: KeptRequest): Child => {
    if (keyId === null) return el('span', { class: 'muted' }, 'None')
    const key = keys.find(({ id }) => id === keyId)
    return key ? keyName(key) : `…${keyId.slice(-6)}`
  }
  const callerOf = (request: KeptRequest): readonly Child[] => [
    nameOf(request),
    request.byTool && el('div', { class: 'small muted' }, 'by tool'),
  ]
  const groupRows = ({ name, requests }: RequestGroup): HTMLElement[] => {
    const [newest] = requests
    if (requests.length === 1) return [row(newest, callerOf(newest))]
    const members = requests.map(request => row(request, callerOf(request), 'member'))
    const toggle = el('button', { type: 'button', class: 'button link' }, groupTitle(requests))
    const update = (): void => {
      toggle.setAttribute('aria-expanded', String(open.has(name)))
      for (const member of members) member.hidden = !open.has(name)
    }
    toggle.addEventListener('click', () => {
      if (!open.delete(name)) open.add(name)
      update()
    })
    update()
    const head = cells({
      at: el('span', {}, exactly(newest.createdAt)),
      what: [toggle, el('div', { class: 'small muted' }, newest.message ?? '')],
      amount: amounts(requests),
      key: callerOf(newest),
      result: badge(newest),
    })
    return [head, ...members]
  }
  return {
    element,
    show(requests) {
      fill(rows, ...groupRefusals(requests).flatMap(groupRows))
    },
  }
}

function groupTitle(requests: readonly KeptRequest[]): string {
  return `${requests.length} × ${operationTitle(requests[0] as KeptRequest)}`
}

/** What the requests of a group asked for: the smallest and the largest amount. */
function amounts(requests: readonly KeptRequest[]): string {
  const all = requests.flatMap(request => requestedCents(request) ?? [])
  if (all.length === 0) return '–'
  const [least, most] = [Math.min(...all), Math.max(...all)]
  return least === most ? money(least) : `${money(least)} to ${money(most)}`
}

function row(request: KeptRequest, key: readonly Child[], kind?: string): HTMLElement {
  const cents = requestedCents(request)
  const made = cells({
    at: exactly(request.createdAt),
    what: [
      el('a', { href: addressOf('requests', { row: request.id }) }, requestTitle(request)),
      request.message !== null && el('div', { class: 'small muted' }, request.message),
    ],
    amount: cents === undefined ? '–' : money(cents),
    key,
    result: badge(request),
  })
  if (kind !== undefined) made.classList.add(kind)
  return made
}

function cells(shown: {
  readonly at: Child
  readonly what: readonly Child[]
  readonly amount: string
  readonly key: readonly Child[]
  readonly result: Child
}): HTMLElement {
  return el(
    'tr',
    {},
    el('td', { class: 'request-at' }, shown.at),
    el('td', { class: 'request-what' }, ...shown.what),
    el('td', { class: 'number request-amount' }, shown.amount),
    el('td', { class: 'request-key', 'data-name': 'Key' }, ...shown.key),
    el('td', { class: 'request-result' }, shown.result),
  )
}

/** Makes the badge with what was decided about a request. */
export function badge(request: KeptRequest): HTMLElement {
  const { status } = request
  if (status === 429 || status < 400)
    return el('span', { class: `badge ${resultTone(status)}` }, resultWords(request))
  return el(
    'span',
    { class: `badge ${resultTone(status)}`, title: reasonWords(request) },
    resultWords(request),
  )
}
