import { ask as askInDialog } from '../shared/dialog.ts'
import { el } from '../shared/dom.ts'
import { utc } from '../shared/time.ts'
import type { LostRun } from './figures.ts'
import { noteFields, type Note } from './note-fields.ts'

/** The operator's decision about a lost run. */
export type Decision = Note &
  ({ readonly outcome: 'never_happened' } | { readonly outcome: 'completed'; readonly data: object })

/** Asks the operator for a decision. Resolves to undefined if the operator closes the dialog without deciding. */
export async function askDecision(run: LostRun): Promise<Decision | undefined> {
  const never = radio(
    'never_happened',
    'It took no effect',
    'Its key becomes free: the next retry of the client runs the write again. Make sure that it can no longer take effect.',
  )
  const completed = radio('completed', 'It took effect', 'Retries of the client get 200 with the data below.')
  const data = el(
    'textarea',
    {
      class: 'input mono',
      id: 'data',
      rows: 4,
      spellcheck: 'false',
      'aria-describedby': 'data-help data-wrong',
    },
    '{}',
  )
  const wrong = el('p', { class: 'wrong', id: 'data-wrong', role: 'alert' })
  const field = el(
    'div',
    { class: 'field', hidden: true },
    el('label', { for: 'data' }, 'Response data'),
    data,
    el(
      'p',
      { class: 'help', id: 'data-help' },
      'A JSON object: the member data that the client would have got.',
    ),
    wrong,
  )
  const note = noteFields('Who decides')
  const show = (): void => {
    field.hidden = !completed.input.checked
  }
  for (const { input } of [never, completed]) input.addEventListener('change', show)
  const asked = askInDialog({
    title: 'What was the outcome of this run?',
    body: [
      el(
        'p',
        { class: 'small' },
        'Operation id ',
        el('code', { class: 'breaks' }, run.operationId),
        `, began ${utc(run.beganAt)}. Ask the ledger or the provider about it first: a decision cannot be taken back.`,
      ),
      el(
        'fieldset',
        { class: 'choices' },
        el('legend', { class: 'label' }, 'Outcome'),
        never.label,
        completed.label,
      ),
      field,
      ...note.elements,
    ],
    confirm: 'Decide',
    danger: true,
  })
  keepOpenUntilComplete(data, wrong, () =>
    completed.input.checked ? 'completed' : never.input.checked ? 'never_happened' : undefined,
  )
  if (!(await asked)) return undefined
  return completed.input.checked
    ? { outcome: 'completed', data: JSON.parse(data.value) as object, ...note.note() }
    : { outcome: 'never_happened', ...note.note() }
}

function radio(
  value: string,
  name: string,
  meaning: string,
): { readonly label: HTMLElement; readonly input: HTMLInputElement } {
  const input = el('input', { type: 'radio', name: 'outcome', value, required: true })
  const text = el('span', {}, el('strong', {}, name), el('span', { class: 'meaning' }, meaning))
  return { input, label: el('label', { class: 'choice' }, input, text) }
}

/** Keeps the dialog open while the data is not a JSON object. The browser itself requires an outcome. */
function keepOpenUntilComplete(
  data: HTMLTextAreaElement,
  wrong: HTMLElement,
  outcome: () => Decision['outcome'] | undefined,
): void {
  data.closest('form')?.addEventListener('submit', event => {
    if (outcome() !== 'completed' || isObject(data.value)) return
    event.preventDefault()
    wrong.textContent = 'This is no JSON object. An empty one is {}.'
    data.setAttribute('aria-invalid', 'true')
    data.focus()
  })
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
