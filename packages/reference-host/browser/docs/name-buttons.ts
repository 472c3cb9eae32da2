/** Names the copy buttons, which the library leaves without a name. Goes on while the reference draws more. */
export function nameButtons(app: Element): void {
  let asked = false
  const name = (): void => {
    asked = false
    for (const button of app.querySelectorAll('button.scalar-code-copy:not([aria-label])'))
      button.setAttribute('aria-label', 'Copy this code')
  }
  new MutationObserver(() => {
    if (asked) return
    asked = true
    requestAnimationFrame(name)
  }).observe(app, { childList: true, subtree: true })
}
