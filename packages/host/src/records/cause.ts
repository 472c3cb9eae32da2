/** An error wraps that of the driver once or twice. */
const DEEPEST = 4

/** Returns an error and its causes, the error first. */
function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = []
  for (let at = error; at instanceof Error && chain.length < DEEPEST; at = at.cause) chain.push(at)
  return chain
}

/** Whether an error or one of its causes has a code that matches, such as `EMFILE` or a SQLSTATE. */
export function hasCode(error: unknown, codes: RegExp): boolean {
  return chainOf(error).some(({ code }: NodeJS.ErrnoException) => code !== undefined && codes.test(code))
}

/** Says why something failed, for an operator: the message of the first cause. It never has the values of a statement. */
export function causeText(error: unknown): string {
  if (hasCode(error, /^E[MN]FILE$/))
    return 'no file descriptor is left: raise the limit of this process (ulimit -n, or LimitNOFILE of systemd)'
  if (hasCode(error, /^(?:42P05|26000)$/))
    return 'a pooler gives prepared statements to other connections: set DATABASE_PREPARE=off'
  return messageOf(chainOf(error).at(-1) ?? new Error('unknown error'))
}

/**
 * Returns the message of an error. For one without, its code, as of a host name with several addresses of which none accepts a connection;
 * for one without a code either, its class, as of node-redis's `TimeoutError`.
 */
export function messageOf(error: Error): string {
  return error.message || ((error as NodeJS.ErrnoException).code ?? error.constructor.name)
}
