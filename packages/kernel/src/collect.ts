/** Most batches of one call, so that it ends although rows expire faster than they are deleted. */
const MAX_BATCHES = 100

/**
 * Deletes all rows that are due, in batches: calls `collect`, which deletes up to `limit` rows and resolves to their number, until a
 * call deletes fewer, `signal` aborts or 100 batches are deleted. Between two batches other work of the process runs. Resolves
 * to the number of deleted rows.
 */
export async function collectBatches(
  collect: (limit: number) => Promise<number>,
  limit: number,
  signal?: AbortSignal,
): Promise<number> {
  let total = 0
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    if (signal?.aborted) break
    const deleted = await collect(limit)
    total += deleted
    if (deleted < limit) break
    await new Promise(resolve => setTimeout(resolve))
  }
  return total
}
