/** Waits for `work`, and after `limitMs` rejects with what `late` makes. The work itself goes on. */
export async function inTime<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const ended = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), limitMs)
  })
  return Promise.race([work, ended]).finally(() => clearTimeout(timer))
}
