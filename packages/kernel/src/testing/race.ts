/**
 * Starts `count` calls in one turn of the event loop and waits for all of them. Rejects if one rejects, so a test never
 * counts a fault as a lost race.
 */
export async function race<T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)))
}
