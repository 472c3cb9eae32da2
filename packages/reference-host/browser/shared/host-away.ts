import { button, el } from './dom.ts'
import { announce } from './live.ts'

const EVERY_SECONDS = 5

/** What is read again when the host responds. Undefined: the host responds. */
let waiting: Set<() => void> | undefined

/** Whether a call got no response, and the host has not responded since. */
export const isHostAway = (): boolean => waiting !== undefined

/**
 * Call it when a call got no response. Until the host responds, one banner says so, the class `host-away` of the document greys what is
 * shown, and the host is asked every 5 seconds. Then `again` is called, once.
 */
export function whenHostIsBack(again: () => void): void {
  if (waiting) {
    waiting.add(again)
    return
  }
  waiting = new Set([again])
  const words = el('span')
  const banner = el('div', { class: 'away-banner', role: 'region', 'aria-label': 'Connection' }, words)
  let left = EVERY_SECONDS
  const show = (): void => {
    words.textContent = `The host does not answer. Retrying in ${left} s.`
  }
  const retry = async (): Promise<void> => {
    left = EVERY_SECONDS
    if (!(await responds())) return show()
    clearInterval(timer)
    banner.remove()
    document.documentElement.classList.remove('host-away')
    announce('The host answers again.')
    const calls = waiting ?? []
    waiting = undefined
    for (const call of calls) call()
  }
  const timer = setInterval(() => {
    left -= 1
    if (left > 0) show()
    else void retry()
  }, 1000)
  show()
  banner.append(button('Retry now', retry, 'small'))
  document.body.prepend(banner)
  document.documentElement.classList.add('host-away')
  announce('The host does not answer. What is shown may be old.')
}

/** Whether the host sends this page. */
async function responds(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(EVERY_SECONDS * 1000)
    const { ok } = await fetch(location.pathname, {
      method: 'HEAD',
      cache: 'no-store',
      credentials: 'omit',
      signal,
    })
    return ok
  } catch {
    return false
  }
}
