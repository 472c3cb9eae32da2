/** A comment in a test's output: one for each host that it started. */
export const HOST_STARTED = '# a host started'

/** Reports to the runner that `count` hosts were started. */
export function reportHostStarts(count = 1): void {
  for (let n = 0; n < count; n += 1) console.log(HOST_STARTED)
}
