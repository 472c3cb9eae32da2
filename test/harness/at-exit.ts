const acts = new Set<() => void>()

process.once('exit', () => {
  for (const act of [...acts].reverse()) act()
})

/** Does something when the process exits, the last registered first. Returns the function that forgets it. */
export function atExit(act: () => void): () => void {
  acts.add(act)
  return () => void acts.delete(act)
}
