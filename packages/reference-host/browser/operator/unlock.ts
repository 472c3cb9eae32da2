import { el, whileSending } from '../shared/dom.ts'

/** Makes the form for the operator token. `unlock` returns an error text for a wrong token. */
export function unlockForm(
  unlock: (token: string) => Promise<string | undefined>,
  reason?: string,
): HTMLElement {
  const wrong = el('p', { class: 'wrong', id: 'token-wrong', role: 'alert' })
  const input = el('input', {
    class: 'input mono',
    id: 'token',
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-describedby': 'token-help token-wrong',
    required: true,
  })
  const submit = el('button', { class: 'button primary' }, 'Unlock')
  const send = async (): Promise<void> => {
    wrong.textContent = ''
    input.removeAttribute('aria-invalid')
    const problem = await unlock(input.value.trim())
    if (problem === undefined) return
    wrong.textContent = problem
    input.setAttribute('aria-invalid', 'true')
    input.select()
  }
  const form = el(
    'form',
    { class: 'field', novalidate: true },
    el('label', { for: 'token' }, 'Operator token'),
    input,
    el(
      'p',
      { class: 'help', id: 'token-help' },
      'The value of OPERATOR_TOKEN. A sandbox without one keeps it as ',
      el('code', {}, 'operatorToken'),
      ' in ',
      el('code', {}, 'DATA_DIR/secrets.json'),
      '. This tab keeps it until you close it or choose Lock.',
    ),
    wrong,
    el('div', { class: 'buttons' }, submit),
  )
  form.addEventListener('submit', event => {
    event.preventDefault()
    if (!submit.disabled) whileSending(submit, send())
  })
  return el(
    'section',
    { class: 'card unlock' },
    el('h1', {}, 'Operator page'),
    el('p', {}, 'What this host has decided, what waits, and what needs attention.'),
    reason !== undefined && el('p', { class: 'note warn' }, reason),
    form,
  )
}
