/**
 * Starts `count` calls in the same turn and waits for all. Rejections reject the race: a fault is never
 * counted as a lost race. On `n` connections, call `i` goes to connection `i % n`.
 */
export async function race<T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)))
}
