import { counted } from '../../../shared/counted.ts'
import { ask } from '../../../shared/dialog.ts'
import { button, byId, el, fill, type Child } from '../../../shared/dom.ts'
import { readHost } from '../../../shared/host.ts'
import { announce } from '../../../shared/live.ts'
import type { ConsoleContext } from '../context.ts'
import { listRow } from '../list-row.ts'
import { withSignedKey } from '../signed-key.ts'
import { load, problemNote, section, unlessUnknown } from '../states.ts'
import { hideSetup, isSetupHidden } from '../stored-session.ts'
import type { Agreement, Application, Step } from '../wire.ts'

/** The title of each onboarding step, and a text about how to complete it. */
const STEPS: Readonly<Record<string, readonly [name: string, how: string]>> = {
  wallet: ['Sign in with your wallet', ''],
  kyc: ['Have your identity checked', 'Your app collects and submits identity details.'],
  agreements: ['Accept the agreements', ''],
  funding: ['Put money in', 'Your app does this with a key. You can skip it.'],
  card: ['Create a card', 'Your app does this with a key. You can skip it.'],
}
/** The steps in a sentence. */
const SHORT: Readonly<Record<string, string>> = { kyc: 'identity', card: 'a card' }
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

/** The section of the onboarding steps. */
export interface StepsSection {
  readonly element: HTMLElement
  /** Resolves when the steps were read, or when that failed. The section is removed if none is open. */
  readonly loaded: Promise<void>
}

/** Makes the section of the onboarding steps, with the status of the identity check. */
export function stepsSection(context: ConsoleContext): StepsSection {
  const body = el('div', { class: 'lines' })
  const reload = (): Promise<void> =>
    load<Onboarding>(body, {
      what: 'the steps of your account',
      read: () => context.call('/onboarding'),
      show: onboarding => render(context, onboarding, reload),
    })
  const element = section('Set-up', [body])
  element.classList.add('setup')
  return { element, loaded: reload() }
}

function render(context: ConsoleContext, { steps, next }: Onboarding, reload: () => Promise<void>): Child[] {
  const rows = steps.map(step => stepRow(context, step, step.step === next, reload))
  const list = el('ol', { class: 'rows' }, ...rows)
  const open = steps.filter(({ status }) => status === 'open')
  const isFunded = steps.some(({ step, status }) => step === 'funding' && status === 'done')
  const all = [progress(steps.length - open.length, steps.length), list]
  if (open.length > 0 && !isFunded) return all
  if (open.length > 0 && !isSetupHidden()) return [inOneLine(open, all)]
  // The caller has the section in the document by now, or puts it there in this turn.
  queueMicrotask(removeSection)
  return []
}

const removeSection = (): void => document.querySelector('.setup')?.remove()

/** The open steps in one line, which opens, and can be hidden: an account that has money works without them. */
function inOneLine(open: readonly Step[], all: readonly Child[]): HTMLElement {
  const names = open.map(({ step }) => SHORT[step] ?? step).join(', ')
  // Read again after a step, it stays as the person has it.
  const isOpen = document.querySelector<HTMLDetailsElement>('.setup details')?.open === true
  const hide = button(
    'Hide',
    () => {
      hideSetup()
      removeSection()
      announce('The set-up is hidden until you sign in again.')
    },
    'small',
  )
  const details = el(
    'details',
    { open: isOpen },
    el('summary', {}, `${counted(open.length, 'step')} left: ${names}`),
    el('div', { class: 'lines' }, ...all),
  )
  return el('div', { class: 'one-line' }, details, hide)
}

/** Shows how many of the steps are done, as a bar and in words. */
function progress(done: number, count: number): HTMLElement {
  const bar = el('span', { class: 'bar-used' })
  bar.style.inlineSize = `${(done / count) * 100}%`
  return el(
    'div',
    { class: 'progress' },
    el('p', { class: 'small muted' }, `${done} of ${count} done`),
    el('div', { class: 'bar', 'aria-hidden': 'true' }, bar),
  )
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
  if (status === 'open') actions.push(...sandboxActions(context, step, { problemBox, reload, isNext }))
  if (status === 'open' && CAN_SKIP.includes(step))
    actions.push(button('Skip this step', () => skip(context, step, problemBox, reload), 'small'))
  const row = listRow({
    name: [name, el('span', { class: `badge ${tone}`.trim() }, word)],
    below: [about, problemBox],
    end: actions.length > 0 && el('div', { class: 'row-actions' }, ...actions),
  })
  row.classList.toggle('next', isNext)
  return row
}

interface StepParts {
  readonly problemBox: HTMLElement
  readonly reload: () => Promise<void>
  readonly isNext: boolean
}

/** Makes the buttons that do a step in a sandbox, where money is play money and nobody is checked. */
function sandboxActions(
  context: ConsoleContext,
  step: string,
  { problemBox, reload, isNext }: StepParts,
): Child[] {
  if (readHost().environment !== 'sandbox') return []
  const kind = isNext ? 'primary small' : 'small'
  const withKey = (scope: string, path: string, body: object, what: string): Promise<unknown> =>
    withSignedKey(
      context,
      [scope],
      callWithKey => callWithKey(path, body),
      reply => {
        if (reply.ok) return announce(`${what} was done.`)
        const happened = unlessUnknown(`${what} was not done.`, reply.problem)
        byId('app').querySelector('.setup')?.append(problemNote(happened, reply.problem))
      },
    )
  if (step === 'funding') {
    const add = (): unknown =>
      withKey('deposits.write', '/deposits', { amountCents: 10_000 }, 'Adding play money')
    return [button('Add 100 USD play money', add, kind)]
  }
  if (step === 'card') {
    const limit = { amount: 5000, frequency: 'per30DayPeriod' }
    const create = (): unknown => withKey('cards.write', '/cards', { limit }, 'Creating a test card')
    return [button('Create a test card', create, kind)]
  }
  if (step !== 'kyc') return []
  const approve = async (): Promise<void> => {
    const reply = await context.call('/sandbox/kyc', { body: { status: 'approved' } })
    if (!reply.ok) return fill(problemBox, problemNote('Your identity was not approved.', reply.problem))
    announce('Your identity is approved.')
    return reload()
  }
  return [button('Approve my identity (sandbox)', approve, kind)]
}

/** Shows the status of the identity check, if an application was sent. */
async function showCheckStatus(context: ConsoleContext, about: HTMLElement): Promise<void> {
  // Without an application its status is a 404, which a browser reports as an error: the user says whether there is one.
  const user = await context.call<{ user: { kycStatus: string } }>('/users')
  if (!user.ok || user.data.user.kycStatus === 'not_submitted') return
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
