// These functions run in the page: the harness sends their text there, so none may use anything from outside itself.

/** Scrolls a list from its start to its end, at first by small steps and then by leaps, and returns what was in the document. */
export async function scrollThrough(selector: string): Promise<{
  readonly frames: number
  /** The most rows that were in the document at once. */
  readonly most: number
  /** The texts that are in sight at the end. */
  readonly end: string
}> {
  const list = document.querySelector(selector) as HTMLElement
  const frame = (): Promise<number> => new Promise(resolve => requestAnimationFrame(resolve))
  let [frames, most] = [0, 0]
  for (let top = 0; top < list.scrollHeight; top += frames < 300 ? 120 : 2500) {
    list.scrollTop = top
    await frame()
    most = Math.max(most, list.querySelectorAll('[role="row"]').length)
    frames++
  }
  list.scrollTop = list.scrollHeight
  for (let n = 0; n < 5; n++) await frame()
  await new Promise(resolve => setTimeout(resolve, 200))
  return { frames, most, end: list.innerText }
}
