import { Fault } from '@gatewright/kernel'
import type { ChainReader, TokenTransfer, TransferQuery } from './reader.ts'

/** The transfers of the blocks that one step read, up to `toBlock`. */
interface LogStep {
  readonly transfers: readonly TokenTransfer[]
  readonly toBlock: number
}

/** Reads ranges of blocks in steps of as many blocks as the node of the chain takes. Everything that reads a chain shares one. */
export interface LogReader {
  /** How many blocks the next step may have. */
  span(): number
  /**
   * Reads blocks from `fromBlock` on, at most up to `toBlock`. If the node refuses the range, it is halved until the node takes it; a
   * node that does not reply for the last block alone is down or behind, and nothing is learnt. Faults: those of the reader.
   */
  step(query: TransferQuery): Promise<LogStep>
  /** Reads a whole range, step by step. */
  steps(query: TransferQuery): AsyncGenerator<LogStep>
}

/** Maximum number of blocks in one step. */
const MAX_BLOCKS = 2000
/** After how many steps of the known span a larger one is tried. */
const STEPS_UNTIL_PROBE = 50

/** Creates the reader of a chain's logs. It remembers the largest span that worked, until the process ends. */
export function logReader(reader: Pick<ChainReader, 'transfers'>): LogReader {
  let span = MAX_BLOCKS
  let steps = 0

  /** Whether a fault is about the size of a range: the node replies for the last block of it alone. */
  async function isTooLarge(error: unknown, query: TransferQuery): Promise<boolean> {
    if (!(error instanceof Fault) || error.code !== 'ERR_RPC_UNAVAILABLE') return false
    if (query.fromBlock === query.toBlock) return false
    return reader.transfers({ ...query, fromBlock: query.toBlock }).then(
      () => true,
      () => false,
    )
  }

  async function step(query: TransferQuery): Promise<LogStep> {
    const { fromBlock, toBlock: end } = query
    const isProbe = steps >= STEPS_UNTIL_PROBE
    let blocks = Math.min(end - fromBlock + 1, isProbe ? Math.min(MAX_BLOCKS, 2 * span) : span)
    for (;;) {
      const toBlock = fromBlock + blocks - 1
      try {
        const transfers = await reader.transfers({ ...query, toBlock })
        steps = blocks > span ? 0 : steps + (blocks === span ? 1 : 0)
        span = Math.max(span, blocks)
        return { transfers, toBlock }
      } catch (error) {
        if (!(await isTooLarge(error, { ...query, toBlock }))) throw error
        steps = 0
        // A probe that failed leaves the known span.
        if (blocks <= span) span = Math.floor(blocks / 2)
        blocks = span
      }
    }
  }

  return {
    span: () => span,
    step,
    async *steps(query) {
      for (let fromBlock = query.fromBlock; fromBlock <= query.toBlock; ) {
        const read = await step({ ...query, fromBlock })
        yield read
        fromBlock = read.toBlock + 1
      }
    },
  }
}
