/** Gives the library's copy buttons an accessible name, also those that it draws later. */
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
