/** A child of an element. `false` and undefined are left out. */
export type Child = Node | string | false | undefined

/** Attributes and listeners of a new element. `on*` are listeners, booleans are present or absent attributes. */
export type Props = Readonly<Record<string, string | number | boolean | undefined | ((event: never) => void)>>

/** Makes an element. Texts are text nodes, so no value becomes markup. */
export function el<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[T] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(props)) setProp(element, name, value)
  element.append(...nodesOf(children))
  return element
}

function setProp(element: HTMLElement, name: string, value: Props[string]): void {
  if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener)
  else if (value === true) element.setAttribute(name, '')
  else if (value !== false && value !== undefined) element.setAttribute(name, String(value))
}

/** Replaces the children of an element. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...nodesOf(children))
}

/** Finds an element by its id. Throws if the document does not have it. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (!found) throw new Error(`the document has no #${id}`)
  return found
}

/** Makes a button that calls `press`. It is disabled while a promise of `press` is pending. */
export function button(label: string, press: () => unknown, kind = ''): HTMLButtonElement {
  const made = el('button', { type: 'button', class: `button ${kind}`.trim() }, label)
  made.addEventListener('click', () => {
    const running = press()
    if (running instanceof Promise) whileSending(made, running)
  })
  return made
}

/** Disables a button until a promise has settled. */
export function whileSending(control: HTMLButtonElement, running: Promise<unknown>): void {
  control.disabled = true
  const enable = (): void => {
    control.disabled = false
  }
  running.then(enable, enable)
}

const nodesOf = (children: readonly Child[]): (Node | string)[] =>
  children.filter(child => child !== false && child !== undefined)
