import type { TokenTransfer } from '../../../chain/reader.ts'
import type { AddressGap } from './address-gap.ts'
import type { AssignmentServices } from './assign-transfers.ts'
import { payinsOnChain } from './payins-on-chain.ts'

/** Reads the transfers of block ranges to all watched addresses of a chain. */
interface RangeReader {
  /** Returns how many blocks the next range may have. */
  span(): number
  /** Reads the transfers of a range of any length. */
  find(fromBlock: number, toBlock: number): Promise<readonly TokenTransfer[]>
  /** Reads the transfers of a range. Halves the span when the node rejects the range, else doubles it. */
  read(fromBlock: number, toBlock: number): Promise<readonly TokenTransfer[]>
}

/** Maximum number of blocks in one range. */
const MAX_BLOCKS = 20_000

/** Creates the range reader of a chain. */
export function rangeReader(
  { db, reader, receivers }: Pick<AssignmentServices, 'db' | 'reader' | 'receivers'>,
  ahead: AddressGap,
): RangeReader {
  const pending = payinsOnChain(db)
  const tokens = [...new Set(receivers.map(({ token }) => token))]
  const shared = receivers.map(({ receiver }) => receiver)
  let span = MAX_BLOCKS

  const find: RangeReader['find'] = async (fromBlock, toBlock) => {
    const own = [...(await pending.openAddresses(reader.chainId)), ...(await ahead.addresses())]
    return reader.transfers({ tokens, receivers: [...new Set([...shared, ...own])], fromBlock, toBlock })
  }

  return {
    find,
    span: () => span,
    async read(fromBlock, toBlock) {
      try {
        const found = await find(fromBlock, toBlock)
        span = Math.min(MAX_BLOCKS, 2 * span)
        return found
      } catch (error) {
        span = Math.max(1, Math.floor(span / 2))
        throw error
      }
    },
  }
}
