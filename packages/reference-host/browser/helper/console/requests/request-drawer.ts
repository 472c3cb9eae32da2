import type { Reply } from '../../../shared/api.ts'
import { copyButton } from '../../../shared/copy.ts'
import { el, type Child } from '../../../shared/dom.ts'
import { requestTitle } from '../../../shared/request-words.ts'
import { fromNow, utc } from '../../../shared/time.ts'
import type { ConsoleContext } from '../context.ts'
import { keyName, readAllKeys } from '../all-keys.ts'
import { factList } from '../money/money-drawer.ts'
import type { DrawerContent } from '../page.ts'
import { addressOf } from '../route.ts'
import { empty, load } from '../states.ts'
import type { Key, KeptRequest } from '../wire.ts'
import { badge } from './request-table.ts'

interface OneRequest {
  readonly request: KeptRequest
  readonly now: { readonly allowed: boolean; readonly message: string | null } | null
}

interface Found extends OneRequest {
  readonly keys: readonly Key[]
}

/** Makes the drawer of a request: what was decided and why, what would be decided now, and what to do. */
export function requestDrawer(context: ConsoleContext, id: string): DrawerContent {
  const body = el('div', { class: 'lines' })
  void load<Found>(body, {
    what: 'this request',
    read: () => readRequest(context, id),
    show: showRequest,
    missing: () => [
      empty(
        'No request with this id is kept for your account.',
        'Refused requests and writes are kept for some days, reads that succeed are not.',
      ),
    ],
  })
  return { title: 'Request', body: [body] }
}

async function readRequest(context: ConsoleContext, id: string): Promise<Reply<Found>> {
  const [reply, keys] = await Promise.all([
    context.call<OneRequest>(`/requests/${encodeURIComponent(id)}`),
    readAllKeys(context),
  ])
  return reply.ok ? { ok: true, data: { ...reply.data, keys: keys.ok ? keys.data : [] } } : reply
}

/** What the same request would get now. The reason is not repeated. */
function nowWords(request: KeptRequest, { allowed, message }: NonNullable<OneRequest['now']>): string {
  if (allowed) return 'The key may do this now.'
  return message === request.message
    ? 'It would be refused now, too.'
    : `It would be refused now: ${message ?? ''}`
}

function showRequest({ request, now, keys }: Found): Child[] {
  const { id, keyId, sessionId, policyKeyId, field, byTool, createdAt, durationMs } = request
  const key = keys.find(each => each.id === keyId)
  const binding = keys.find(({ lineageId }) => lineageId === policyKeyId)
  const isOther = policyKeyId !== null && policyKeyId !== key?.lineageId
  return [
    el('p', { class: 'row-name' }, el('strong', {}, requestTitle(request)), badge(request)),
    request.message !== null && el('p', {}, request.message),
    now !== null && el('p', { class: now.allowed ? 'note' : 'note bad' }, nowWords(request, now)),
    factList([
      ['Time', `${fromNow(createdAt)} · ${utc(createdAt)}`],
      ['Key', key ? keyName(key) : keyId],
      ['Limit of key', isOther && (binding ? keyName(binding) : policyKeyId)],
      ['Member', field],
      ['By tool', byTool && 'Yes: an agent called a tool of this host'],
      ['Took', `${durationMs.toFixed(1)} ms`],
      ['For programs', el('code', { class: 'wrap small' }, codesOf(request))],
      [
        'Request id',
        el(
          'span',
          { class: 'copied' },
          el('code', { class: 'wrap' }, id),
          copyButton('request id', () => id),
        ),
      ],
      ['Session', sessionId && el('code', { class: 'wrap' }, sessionId)],
    ]),
    el('div', { class: 'buttons' }, ...actions(request, key, isOther ? binding : undefined)),
  ]
}

/** The operation and the decision as programs get them: `POST payments.create · 403 policy_blocked · limits`. */
const codesOf = ({ method, operation, status, error, rule }: KeptRequest): string =>
  [`${method} ${operation}`, [status, error].filter(Boolean).join(' '), rule].filter(Boolean).join(' · ')

/** What a person may want to do next: look at the key, at what it did and at its cards, or read about the error. */
function actions(
  { operation, error, rule }: KeptRequest,
  key: Key | undefined,
  binding: Key | undefined,
): Child[] {
  const link = (words: string, href: string): HTMLElement => el('a', { class: 'button small', href }, words)
  const anchor = rule === null ? error : `policy_blocked.${rule}`
  return [
    key && !key.console && link('Open key', addressOf('keys', { row: key.id })),
    binding && link(`Open ${keyName(binding)}`, addressOf('keys', { row: binding.id })),
    key && link('Requests of this key', addressOf('requests', { query: { keyId: key.id } })),
    operation.startsWith('cards.') &&
      key &&
      link('Lock a card', addressOf('cards', { query: { keyLineageId: key.lineageId } })),
    anchor !== null && link('About this error', `/errors#${encodeURIComponent(anchor)}`),
  ]
}
