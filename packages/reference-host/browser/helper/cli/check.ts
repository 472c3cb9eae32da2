import { short } from '../../shared/address.ts'
import { el, whileSending, type Child } from '../../shared/dom.ts'
import { announce } from '../../shared/live.ts'
import { when } from '../../shared/time.ts'
import { show, type IsShown } from '../screen.ts'
import { requestedKey, type LowerTo } from './requested-key.ts'
import { codeBoxes, type CodeBoxes } from './code-boxes.ts'
import type { CliRequest } from './request.ts'

/** The request, the account that would approve it, and the functions of the two buttons. */
interface CheckOptions {
  readonly request: CliRequest
  readonly account: string
  /** The error of the code that was typed before; undefined at first. */
  readonly wrong: string | undefined
  /** Tries to approve with a code, and what the person lowers. Resolves to an error text for a wrong code; to undefined once another screen is shown. */
  readonly approve: (code: string, lowerTo: LowerTo) => Promise<string | undefined>
  /** Denies the request, with the code if all of it was typed. Resolves like `approve`. */
  readonly deny: (code: string | undefined) => Promise<string | undefined>
}

const CODE = /^.{8}$/

/** Shows from where a sign-in is requested, and asks for the code that the terminal shows. */
export function showCheck({ request, account, wrong: wrongBefore, approve, deny }: CheckOptions): IsShown {
  const boxes = codeBoxes('code-help code-wrong')
  const wrong = el('p', { class: 'wrong', id: 'code-wrong' })
  const key = requestedKey(request.key)
  const other = request.sameNetwork ? undefined : otherNetwork()
  const approveButton = el('button', { class: 'button primary' }, 'Approve sign-in')
  const denyButton = el('button', { type: 'button', class: 'button' }, 'Deny')
  const showProblem = (text: string): void => {
    wrong.textContent = text
    boxes.mark(true)
    announce(text)
  }
  boxes.whenChanged(leftOut => {
    wrong.textContent = leftOut ? 'Codes have no vowels, and no 0 or 1.' : ''
    boxes.mark(false)
  })
  const send = (running: Promise<string | undefined>): void => {
    // Both buttons are disabled, so that only one decision is sent.
    for (const each of [approveButton, denyButton]) whileSending(each, running)
    void running.then(text => text !== undefined && showProblem(text))
  }
  const form = el(
    'form',
    { class: 'form' },
    key.element,
    other?.element,
    codeField(boxes, wrong),
    el('div', { class: 'buttons equal' }, approveButton, denyButton),
  )
  form.addEventListener('submit', event => {
    event.preventDefault()
    const code = boxes.value()
    const lowerTo = key.read()
    if (lowerTo === 'wrong') return
    if (!CODE.test(code)) showProblem('Type all 8 characters of the code that your terminal shows.')
    else if (!other || other.isConfirmed()) send(approve(code, lowerTo))
  })
  denyButton.addEventListener('click', () => send(deny(CODE.test(boxes.value()) ? boxes.value() : undefined)))
  const isShown = show({
    title: 'Does this come from you?',
    step: 'Step 2 of 3: check the request',
    body: [
      el('p', {}, 'A command line asks to be signed in with your account.'),
      facts(request, account),
      form,
    ],
  })
  if (wrongBefore !== undefined) showProblem(wrongBefore)
  return isShown
}

function facts({ clientName, clientAddress, startedAt }: CliRequest, account: string): Child {
  const rows: readonly (readonly [string, Child])[] = [
    ['Program', clientName === null ? 'Without a name' : claimedName(clientName)],
    ['From', el('code', {}, clientAddress)],
    ['Requested', when(startedAt)],
    ['Your account', short(account)],
  ]
  return el(
    'dl',
    { class: 'facts' },
    ...rows.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]),
  )
}

/** Shows a name that the program chose, isolated (`bdi`), so that its characters cannot reorder or hide the text beside it. */
function claimedName(name: string): Child {
  return el('span', {}, el('bdi', {}, `“${name}”`), el('span', {}, ' (unverified name)'))
}

function codeField({ element }: CodeBoxes, wrong: HTMLElement): HTMLElement {
  return el(
    'fieldset',
    { class: 'field' },
    el('legend', { class: 'label' }, 'Code from your terminal'),
    element,
    el(
      'p',
      { class: 'help', id: 'code-help' },
      'Type it from your own terminal. Do not use a code that somebody sent you.',
    ),
    wrong,
  )
}

/** Makes the warning about another network, with a box that must be checked. */
function otherNetwork(): { readonly element: HTMLElement; isConfirmed(): boolean } {
  const box = el('input', {
    type: 'checkbox',
    id: 'other-network',
    'aria-describedby': 'other-network-wrong',
  })
  const wrong = el('p', { class: 'wrong', id: 'other-network-wrong' })
  const label = el('label', { for: 'other-network' }, 'I started it myself, on another network.')
  const element = el(
    'div',
    { class: 'note bad' },
    el('p', {}, el('strong', {}, 'This request began on another network than this browser.')),
    el('p', {}, 'If somebody sent you the link, deny it: whoever began the request gets into your account.'),
    el('div', { class: 'choice' }, box, label),
    wrong,
  )
  return {
    element,
    isConfirmed() {
      wrong.textContent = box.checked ? '' : 'Confirm this before you approve, or deny the request.'
      if (!box.checked) {
        box.focus()
        announce(wrong.textContent)
      }
      return box.checked
    },
  }
}
