/** A field of a form and the place of its error text. */
interface MarkedField {
  readonly input: HTMLElement
  readonly wrong: HTMLElement
  readonly isRight: boolean
  /** Says what to type. */
  readonly help: string
}

/** Marks a field as right, or as wrong with an error text. Returns `isRight`. */
export function markField({ input, wrong, isRight, help }: MarkedField): boolean {
  wrong.textContent = isRight ? '' : help
  input.setAttribute('aria-invalid', String(!isRight))
  return isRight
}
