import { call, type Problem } from '../shared/api.ts'
import { button, el, type Child } from '../shared/dom.ts'
import { chooseWallet, type SignInFlow } from './sign-in-flow.ts'
import { show, showFailure } from './screen.ts'
import type { SignedIn } from './sign-in.ts'
import type { Signer } from './signer.ts'

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

/** Shows the status of the identity check of the signed-in account. */
export async function showKyc({ token }: SignedIn, _: Signer, flow: SignInFlow): Promise<void> {
  const again = (): void => chooseWallet(flow)
  const isShown = show({
    title: 'Your identity check',
    body: [el('p', { class: 'waiting' }, 'Asking the host.')],
  })
  const read = await readApplication(token)
  if (!isShown()) return
  if (!read.ok) {
    const { problem } = read
    showFailure({
      title: 'The state cannot be shown',
      text: ['Nothing has changed.'],
      problem,
      actions: [['Sign in again', again]],
    })
    return
  }
  const { status, reason, completionLink, externalVerificationLink } = read.application
  const [tone, name, meaning] = STATUSES[status] ?? (['warn', status, ''] as const)
  const isPlay = [completionLink, externalVerificationLink].some(link => link !== null && isHere(link))
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
        button('Sign in again to refresh', again),
        // An address without a fragment loads the page anew, which then signs in to the console.
        el('a', { class: 'button', href: location.pathname }, 'Open my account'),
      ),
    ],
  })
}

/** Reads the application in a console session, because a web token can read nothing. */
async function readApplication(
  token: string,
): Promise<{ ok: true; application: Application } | { ok: false; problem: Problem }> {
  const opened = await call<{ sessionToken: string; sessionId: string }>('/auth/console', {
    method: 'POST',
    token,
  })
  if (!opened.ok) return opened
  const { sessionToken, sessionId } = opened.data
  const kyc = await call<{ application: Application }>('/user/v1/kyc/status', { token: sessionToken })
  // The session is not needed after this. If ending it fails, it expires.
  void call(`/user/v1/sessions/${sessionId}`, { method: 'DELETE', token: sessionToken })
  if (!kyc.ok) return kyc.problem.code === 'not_found' ? { ok: true, application: NOT_SUBMITTED } : kyc
  return { ok: true, application: kyc.data.application }
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
