/** Returned in place of the result of work that got no turn. It was not started. */
export const NO_TURN: unique symbol = Symbol('no turn')

/** Limits how much work of one account runs at once in this process. Work of different accounts never waits for each other. */
export interface AccountTurns {
  /**
   * Runs `work` as soon as less than the allowed number of works of the account run. Of waiting works the oldest is next. If it
   * must wait, `wait` decides how long: when it resolves and the turn has not come, `work` is not started and the result is
   * `NO_TURN`. A turn ends when its work resolves or rejects.
   */
  run<T>(
    account: string,
    wait: (turn: Promise<void>) => Promise<unknown>,
    work: () => Promise<T>,
  ): Promise<T | typeof NO_TURN>
}

interface AccountState {
  running: number
  /** Oldest first. A request that is removed has its turn. */
  readonly waiting: Set<() => void>
}

/** Makes turns of which each account has `most` at once. */
export function createAccountTurns(most: number): AccountTurns {
  /** Only accounts with running work, so that the map stays small. */
  const accounts = new Map<string, AccountState>()

  const end = (account: string, state: AccountState): void => {
    const [next] = state.waiting
    // The turn passes on, so `running` stays.
    if (next) {
      state.waiting.delete(next)
      next()
    } else if (--state.running === 0) accounts.delete(account)
  }
  const waitForTurn = async (
    account: string,
    state: AccountState,
    wait: (turn: Promise<void>) => Promise<unknown>,
  ): Promise<boolean> => {
    const { waiting } = state
    let start: () => void = () => {}
    const turn = new Promise<void>(resolve => {
      start = resolve
    })
    waiting.add(start)
    try {
      await wait(turn)
    } catch (error) {
      // Its turn has come: it is passed on, or the account would have a place less for good.
      if (!waiting.delete(start)) end(account, state)
      throw error
    }
    return !waiting.delete(start)
  }

  return {
    async run(account, wait, work) {
      const state = accounts.get(account) ?? { running: 0, waiting: new Set() }
      if (state.running < most) {
        state.running += 1
        accounts.set(account, state)
      } else if (!(await waitForTurn(account, state, wait))) return NO_TURN
      try {
        return await work()
      } finally {
        end(account, state)
      }
    },
  }
}
