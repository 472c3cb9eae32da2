import { ask } from '../../shared/dialog.ts'
import { button, el, fill, type Child } from '../../shared/dom.ts'
import { announce } from '../../shared/live.ts'
import type { ConsoleContext } from './context.ts'
import { load, problemNote, section } from './states.ts'
import type { Agreement, Application, Step } from './wire.ts'

/** The title of each onboarding step, and a text about how to complete it. */
const STEPS: Readonly<Record<string, readonly [name: string, how: string]>> = {
  wallet: ['Sign in with your wallet', ''],
  kyc: ['Have your identity checked', 'The program that uses your account asks who you are and sends it.'],
  agreements: ['Accept the agreements', ''],
  funding: ['Put money in', 'A program with a key of yours does this. You can skip it.'],
  card: ['Create a card', 'A program with a key of yours does this. You can skip it.'],
}
const STATUSES = { done: ['ok', 'Done'], open: ['warn', 'Open'], skipped: ['', 'Skipped'] } as const
const CAN_SKIP = ['funding', 'card']
/** A sentence for each status of the identity check. */
const CHECKS: Readonly<Record<string, string>> = {
  pending: 'Your identity is being checked. There is nothing for you to do.',
  manualReview: 'A person looks at your application. There is nothing for you to do.',
  needsInformation: 'Something is missing. Send your application again with it.',
  needsVerification: 'Go on at the page of the checking service: your program has its link.',
  denied: 'Your identity check was denied. Ask support.',
  locked: 'Your account is locked. Ask support.',
  canceled: 'Your application was canceled. Another one can be sent.',
}

interface Onboarding {
  readonly steps: readonly Step[]
  readonly next: string | null
}

/** Makes the section of the onboarding steps, with the status of the identity check. */
export function stepsSection(context: ConsoleContext): HTMLElement {
  const body = el('div', { class: 'lines' })
  const reload = (): Promise<void> =>
    load<Onboarding>(body, {
      what: 'the steps of your account',
      read: () => context.call('/onboarding'),
      show: onboarding => render(context, onboarding, reload),
    })
  void reload()
  return section('Set-up', [body])
}

function render(context: ConsoleContext, { steps, next }: Onboarding, reload: () => Promise<void>): Child[] {
  const rows = steps.map(step => stepRow(context, step, step.step === next, reload))
  const list = el('ol', { class: 'rows' }, ...rows)
  const open = steps.filter(({ status }) => status === 'open').length
  if (open > 0) return [list]
  return [
    el('p', {}, el('span', { class: 'badge ok' }, 'Done'), ' Your account is set up.'),
    el('details', {}, el('summary', {}, `All ${steps.length} steps`), list),
  ]
}

function stepRow(
  context: ConsoleContext,
  { step, status }: Step,
  isNext: boolean,
  reload: () => Promise<void>,
): HTMLElement {
  const [name, how] = STEPS[step] ?? [step, '']
  const [tone, word] = STATUSES[status]
  const about = el('p', { class: 'muted small' }, status === 'open' ? how : '')
  const problemBox = el('div')
  const actions: Child[] = []
  if (status === 'open' && step === 'kyc') void showCheckStatus(context, about)
  if (status === 'open' && step === 'agreements')
    actions.push(
      button(
        'Read and accept',
        () => accept(context, problemBox, reload),
        isNext ? 'primary small' : 'small',
      ),
    )
  if (status === 'open' && CAN_SKIP.includes(step))
    actions.push(button('Skip this step', () => skip(context, step, problemBox, reload), 'small'))
  return el(
    'li',
    { class: isNext ? 'row next' : 'row' },
    el(
      'div',
      { class: 'row-main' },
      el('p', { class: 'row-name' }, name, el('span', { class: `badge ${tone}`.trim() }, word)),
      about,
      problemBox,
    ),
    actions.length > 0 && el('div', { class: 'row-actions' }, ...actions),
  )
}

/** Shows the status of the identity check, if an application was sent. */
async function showCheckStatus(context: ConsoleContext, about: HTMLElement): Promise<void> {
  const reply = await context.call<{ application: Application }>('/kyc/status')
  if (!reply.ok) return
  const { status, reason } = reply.data.application
  const words = CHECKS[status] ?? about.textContent
  about.textContent = reason === null ? words : `${words} Reason: ${reason}`
}

async function skip(
  { call }: ConsoleContext,
  step: string,
  problemBox: HTMLElement,
  reload: () => Promise<void>,
): Promise<void> {
  const reply = await call(`/onboarding/${step}`, { method: 'POST' })
  if (!reply.ok) return fill(problemBox, problemNote('The step was not skipped.', reply.problem))
  announce('The step is skipped.')
  return reload()
}

async function accept(
  context: ConsoleContext,
  problemBox: HTMLElement,
  reload: () => Promise<void>,
): Promise<void> {
  const read = await context.call<{ agreements: readonly Agreement[] }>('/agreements')
  if (!read.ok) return fill(problemBox, problemNote('The agreements cannot be shown.', read.problem))
  const texts = read.data.agreements.map(({ text, links }) =>
    el(
      'li',
      {},
      text,
      ...links.flatMap(({ label, url }): Child[] => (isWeb(url) ? [' ', linkTo(label, url)] : [])),
    ),
  )
  const yes = await ask({
    title: 'Accept the agreements',
    body: [
      el('ul', { class: 'agreements' }, ...texts),
      el('p', { class: 'muted' }, 'This cannot be taken back here.'),
    ],
    confirm: 'Accept agreements',
  })
  if (!yes) return undefined
  const reply = await context.call('/agreements', { body: { accepted: true } })
  if (!reply.ok) return fill(problemBox, problemNote('The agreements were not accepted.', reply.problem))
  announce('The agreements are accepted.')
  return reload()
}

const isWeb = (url: string): boolean =>
  URL.canParse(url) && ['https:', 'http:'].includes(new URL(url).protocol)
const linkTo = (label: string, url: string): HTMLElement =>
  el('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, label)
