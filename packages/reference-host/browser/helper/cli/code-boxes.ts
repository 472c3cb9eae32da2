import { el } from '../../shared/dom.ts'

/** Matches characters that no code contains. Codes have no vowels and no digits that look like letters. */
const NOT_IN_CODES = /[^BCDFGHJKLMNPQRSTVWXZ23456789]/g
/** Characters between the parts of a pasted code. */
const SEPARATORS = /[\s-]/g
const LENGTH = 8

/** Eight boxes for the code that a terminal shows. */
export interface CodeBoxes {
  readonly element: HTMLElement
  /** Returns the content of the boxes: 8 characters once all are filled. */
  value(): string
  /** Marks the boxes as wrong or removes the mark. If wrong, moves the focus to the first empty box, or to the first box if all are filled. */
  mark(wrong: boolean): void
  /** Calls a function after each change, and tells whether characters were left out because no code contains them. */
  whenChanged(listener: (leftOut: boolean) => void): void
}

/** Makes the boxes. A typed character jumps to the next box; a pasted code fills them all, with or without its dash. */
export function codeBoxes(describedBy: string): CodeBoxes {
  const boxes = Array.from({ length: LENGTH }, (_, place) => box(place, describedBy))
  const group = (from: number): HTMLElement =>
    el('div', { class: 'code-group' }, ...boxes.slice(from, from + 4))
  let notify = (_leftOut: boolean): void => {}
  const made: CodeBoxes = {
    element: el('div', { class: 'code-boxes' }, group(0), group(4)),
    value: () => boxes.map(({ value }) => value).join(''),
    mark(wrong) {
      for (const each of boxes) each.setAttribute('aria-invalid', String(wrong))
      if (wrong) (boxes.find(({ value }) => value === '') ?? boxes[0])?.focus()
    },
    whenChanged(listener) {
      notify = listener
    },
  }
  const put = (place: number, text: string): void => {
    const typed = text.toUpperCase().replaceAll(SEPARATORS, '')
    const code = typed.replaceAll(NOT_IN_CODES, '')
    // A whole code fills all boxes, whichever box it is pasted into.
    const from = code.length >= LENGTH ? 0 : place
    for (const [at, character] of [...code].entries()) {
      const target = boxes[from + at]
      if (target) target.value = character
    }
    boxes[Math.min(from + code.length, LENGTH - 1)]?.focus()
    notify(code !== typed)
  }
  for (const [place, each] of boxes.entries()) listen(each, place, boxes, put)
  return made
}

function box(place: number, describedBy: string): HTMLInputElement {
  const label = `Character ${place + 1} of ${LENGTH}`
  return el('input', {
    class: 'code-box',
    type: 'text',
    autocomplete: 'off',
    autocapitalize: 'characters',
    spellcheck: 'false',
    'aria-label': label,
    'aria-describedby': describedBy,
    enterkeyhint: 'go',
  })
}

function listen(
  each: HTMLInputElement,
  place: number,
  boxes: readonly HTMLInputElement[],
  put: (place: number, text: string) => void,
): void {
  const move = (to: number): void => boxes[Math.max(0, Math.min(LENGTH - 1, to))]?.focus()
  each.addEventListener('focus', () => each.select())
  each.addEventListener('input', () => {
    const typed = each.value
    each.value = ''
    put(place, typed)
  })
  each.addEventListener('paste', event => {
    event.preventDefault()
    put(place, event.clipboardData?.getData('text') ?? '')
  })
  each.addEventListener('keydown', event => {
    const { key } = event
    if (key === 'Backspace' && each.value === '' && place > 0) {
      const before = boxes[place - 1] as HTMLInputElement
      before.value = ''
      before.focus()
    } else if (key === 'ArrowLeft') move(place - 1)
    else if (key === 'ArrowRight') move(place + 1)
    else if (key === 'Home') move(0)
    else if (key === 'End') move(LENGTH - 1)
    else return
    event.preventDefault()
  })
}
