import { call, type Reply } from '../shared/api.ts'
import { button, el, type Child } from '../shared/dom.ts'
import { readHost } from '../shared/host.ts'
import { forgetSession, type StoredSession } from './console/stored-session.ts'
import { show, showFailure } from './screen.ts'

interface Link {
  readonly url: string
  readonly params: Readonly<Record<string, string>>
}

interface Application {
  readonly status: string
  readonly reason: string | null
  readonly completionLink: Link | null
  readonly externalVerificationLink: Link | null
}

const NOT_SUBMITTED: Application = {
  status: 'notSubmitted',
  reason: null,
  completionLink: null,
  externalVerificationLink: null,
}

type Tone = 'ok' | 'warn' | 'bad'
const NOT_BEGUN = [
  'warn',
  'Not begun',
  'You have not sent your identity details. Your app collects and sends them.',
] as const

/** The text of each status. */
const STATUSES: Readonly<Record<string, readonly [tone: Tone, name: string, meaning: string]>> = {
  notSubmitted: NOT_BEGUN,
  pending: ['warn', 'Under way', 'Your identity is being checked. There is nothing for you to do.'],
  manualReview: [
    'warn',
    'Under review',
    'A person looks at your application. There is nothing for you to do.',
  ],
  needsInformation: ['warn', 'Something is missing', 'Send your application again with what is missing.'],
  needsVerification: ['warn', 'Waits for you', 'Go on at the page of the checking service.'],
  approved: ['ok', 'Approved', 'Your identity is checked. Your account may create cards and move money.'],
  denied: ['bad', 'Denied', 'Your account cannot create cards or move money. Ask support.'],
  locked: ['bad', 'Locked', 'Your account is locked. Ask support.'],
  canceled: ['warn', 'Canceled', 'The application was canceled. You can send another one.'],
}

/** Shows the status of the identity check of an account. `signIn` is called when its session has ended. */
export async function showKyc(
  { sessionToken: token }: Pick<StoredSession, 'sessionToken'>,
  signIn: () => void,
): Promise<void> {
  const again = (): Promise<void> => showKyc({ sessionToken: token }, signIn)
  const isShown = show({
    title: 'Your identity check',
    body: [el('p', { class: 'waiting' }, 'Asking the host.')],
  })
  const read = await readApplication(token)
  if (!isShown()) return
  if (!read.ok && read.problem.status === 401) {
    forgetSession()
    return signIn()
  }
  if (!read.ok) {
    showFailure({
      title: 'The state cannot be shown',
      text: ['Nothing has changed.'],
      problem: read.problem,
      actions: [['Try again', again]],
    })
    return
  }
  const { status, reason, completionLink, externalVerificationLink } = read.data
  const [tone, name, meaning] = STATUSES[status] ?? (['warn', status, ''] as const)
  const isPlay = [completionLink, externalVerificationLink].some(link => link !== null && isHere(link))
  const canApprove = readHost().environment === 'sandbox' && status !== 'approved'
  show({
    title: 'Your identity check',
    body: [
      el('p', {}, el('span', { class: `badge ${tone}` }, name)),
      el('p', {}, meaning),
      reason !== null && el('p', {}, `Reason: ${reason}`),
      isPlay && playNote(),
      el(
        'div',
        { class: 'buttons' },
        linkTo(completionLink, 'Complete the application'),
        linkTo(externalVerificationLink, 'Prove who you are'),
        canApprove && button('Approve my identity (sandbox)', () => approve(token, again)),
        button('Refresh', again),
        // An address without a fragment loads the page anew, which then shows the console of this session.
        el('a', { class: 'button', href: location.pathname }, 'Open my account'),
      ),
    ],
  })
}

async function approve(token: string, again: () => Promise<void>): Promise<void> {
  const reply = await call('/user/v1/sandbox/kyc', { body: { status: 'approved' }, token })
  if (reply.ok) return again()
  showFailure({
    title: 'Your identity was not approved',
    text: ['Nothing has changed.'],
    problem: reply.problem,
    actions: [['Back', again]],
  })
}

/** Reads the application. Without one its status is a 404, which a browser reports as an error: the user says whether there can be one. */
async function readApplication(token: string): Promise<Reply<Application>> {
  const user = await call<{ user: { kycStatus: string } }>('/user/v1/users', { token })
  if (!user.ok) return user
  const { kycStatus } = user.data.user
  if (kycStatus === 'not_submitted') return { ok: true, data: NOT_SUBMITTED }
  const kyc = await call<{ application: Application }>('/user/v1/kyc/status', { token })
  if (kyc.ok) return { ok: true, data: kyc.data.application }
  // A sandbox can approve without an application.
  return kyc.problem.status === 404 ? { ok: true, data: { ...NOT_SUBMITTED, status: kycStatus } } : kyc
}

/** The note for a sandbox: it checks nobody, so its link leads to this page. */
const playNote = (): HTMLElement =>
  el(
    'div',
    { class: 'note' },
    el('p', {}, 'This host checks nobody: it is a sandbox. A program decides instead, for example by '),
    el('p', {}, el('code', {}, 'POST /user/v1/sandbox/kyc {"status":"approved"}')),
  )

const isHere = ({ url }: Link): boolean =>
  URL.canParse(url) &&
  new URL(url).origin === location.origin &&
  ['/identity/kyc', '/helper'].includes(new URL(url).pathname)

/** Makes a link to a page of the provider; nothing if the link leads to this page, or is not an http(s) URL. */
function linkTo(link: Link | null, label: string): Child {
  if (link === null || !URL.canParse(link.url) || isHere(link)) return undefined
  const url = new URL(link.url)
  if (!['https:', 'http:'].includes(url.protocol)) return undefined
  for (const [name, value] of Object.entries(link.params)) url.searchParams.set(name, value)
  return el('a', { class: 'button primary', href: url.href, rel: 'noreferrer' }, label)
}
