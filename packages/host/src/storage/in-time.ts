/** Waits for `work`. After `limitMs` it rejects with the error of `late`; the work itself continues. */
export async function inTime<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const ended = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), limitMs)
  })
  return Promise.race([work, ended]).finally(() => clearTimeout(timer))
}
