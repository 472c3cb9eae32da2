import { el } from '../shared/dom.ts'

/** Who does something, and why. It is kept with what was done. */
export interface Note {
  readonly by: string
  readonly reason: string
}

/** Makes the fields in which an operator says who does something and why. The browser keeps the dialog open while one is blank. */
export function noteFields(
  who: string,
  by = '',
): { readonly elements: readonly HTMLElement[]; note(): Note } {
  const name = noteField('by', who, 'A name or a team. It is kept with the record.', 200)
  const why = noteField('reason', 'Why', 'Such as the number of a ticket. It is kept with the record.', 1000)
  name.input.value = by
  return {
    elements: [name.field, why.field],
    note: () => ({ by: name.input.value, reason: why.input.value }),
  }
}

function noteField(
  id: string,
  name: string,
  meaning: string,
  maxLength: number,
): { readonly field: HTMLElement; readonly input: HTMLInputElement } {
  const input = el('input', {
    class: 'input',
    id,
    maxlength: maxLength,
    required: true,
    pattern: '.*\\S.*',
    autocomplete: 'off',
    'aria-describedby': `${id}-help`,
  })
  const help = el('p', { class: 'help', id: `${id}-help` }, meaning)
  return { input, field: el('div', { class: 'field' }, el('label', { for: id }, name), input, help) }
}
